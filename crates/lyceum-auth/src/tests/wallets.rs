//! Signature verification, on a fake chain.

mod contracts;

use alloy_primitives::{Address, U256, hex};
use serde_json::{Value, json};

use super::{
    Bench, address,
    fake_server::{FakeResponse, FakeServer, ReceivedRequest},
    key, sign,
};
use crate::{Chain, Settings, SignInFault, Signature as Signed, StartedSignIn};

/// Return value of a contract for a valid signature.
const GOOD: &str = "0x1626ba7e00000000000000000000000000000000000000000000000000000000";

/// A fake chain with its id and its response to calls.
async fn chain(id: u64, call: impl Fn() -> FakeResponse + Send + 'static) -> FakeServer {
    FakeServer::start(move |request| match rpc_request(request)["method"].as_str() {
        Some("eth_chainId") => result(&format!("{id:#x}")),
        Some("eth_call") => call(),
        other => panic!("{other:?}"),
    })
    .await
}

fn rpc_request(request: &ReceivedRequest) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

fn result(text: &str) -> FakeResponse {
    FakeResponse::json(&json!({ "jsonrpc": "2.0", "id": 1, "result": text }))
}

fn error(code: i64, message: &str) -> FakeResponse {
    FakeResponse::json(&json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } }))
}

fn bench(chains: &[(u64, &FakeServer)]) -> Bench {
    Bench::with(|settings: &mut Settings| {
        settings.chains =
            chains.iter().map(|(id, chain)| Chain::new(*id, &chain.url).unwrap().into()).collect();
    })
}

/// A message for an account on a chain, unsigned.
fn unsigned(bench: &Bench, started: &StartedSignIn, account: Address, chain: u64) -> Signed {
    let nonce = bench.auth.nonce(bench.now).unwrap();
    let account = account.to_string();
    let browser = Some(started.browser.as_str());
    let message = bench.auth.message(&started.state, browser, (&account, chain), &nonce, bench.now).unwrap();
    Signed { message: message.to_string(), signature: String::new(), state: started.state.clone() }
}

/// A modification of a signature.
type Change = fn(&[u8]) -> Vec<u8>;

fn with_v(signature: &[u8], v: u8) -> Vec<u8> {
    [&signature[..64], &[v]].concat()
}

/// The other valid signature: same r, s negated, other parity.
fn twin(signature: &[u8]) -> Vec<u8> {
    let order: U256 = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".parse().unwrap();
    let s = order - U256::from_be_slice(&signature[32..64]);
    [&signature[..32], &s.to_be_bytes::<32>(), &[signature[64] ^ 7]].concat()
}

#[tokio::test]
async fn a_signature_of_a_key_is_good_without_asking_the_chain() {
    let chain = chain(1, || result("0x")).await;
    let bench = bench(&[(1, &chain)]);
    for change in [0, 27] {
        let started = bench.begin().await;
        let mut signed = unsigned(&bench, &started, address(&key(1)), 1);
        let mut signature = hex::decode(sign(&key(1), &signed.message)).unwrap();
        // Some wallets use 0 and 1 instead of 27 and 28.
        signature[64] -= change;
        signed.signature = hex::encode_prefixed(signature);
        bench.auth.verify(&signed, Some(&started.browser), bench.now).await.unwrap();
    }
    assert!(chain.take_requests().is_empty());
}

#[tokio::test]
async fn a_signature_that_is_off_by_anything_is_refused_and_uses_the_nonce_up() {
    let chain = chain(1, || result("0x")).await;
    let bench = bench(&[(1, &chain)]);
    let changes: [(&str, Change); 13] = [
        ("the twin with the higher s", twin),
        ("64 bytes, as in ERC-2098", |good| good[..64].to_vec()),
        ("66 bytes", |good| [good, &[0]].concat()),
        ("v is 29", |good| with_v(good, 29)),
        ("v is 2", |good| with_v(good, 2)),
        ("v is as in EIP-155", |good| with_v(good, good[64] + 8)),
        ("v is as in EIP-155 for chain 1", |good| with_v(good, good[64] + 10)),
        ("v is the other one", |good| with_v(good, good[64] ^ 7)),
        ("v comes first", |good| [&good[64..], &good[..64]].concat()),
        ("r is zero", |good| [&[0; 32], &good[32..]].concat()),
        ("all is zero", |_| vec![0; 65]),
        ("all is one", |_| vec![0xff; 65]),
        ("one bit is changed", |good| [&[good[0] ^ 1], &good[1..]].concat()),
    ];
    for (what, change) in changes {
        let started = bench.begin().await;
        let mut signed = unsigned(&bench, &started, address(&key(1)), 1);
        let good = sign(&key(1), &signed.message);
        signed.signature = hex::encode_prefixed(change(&hex::decode(&good).unwrap()));
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        assert!(matches!(result, Err(SignInFault::NotSigned)), "{what}: {result:?}");
        signed.signature = good;
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        assert!(matches!(result, Err(SignInFault::Used)), "{what}: {result:?}");
    }
}

#[tokio::test]
async fn a_signature_of_another_key_or_for_another_message_is_refused() {
    let chain = chain(1, || result("0x")).await;
    let bench = bench(&[(1, &chain)]);
    let started = bench.begin().await;
    let mut signed = unsigned(&bench, &started, address(&key(1)), 1);
    signed.signature = sign(&key(2), &signed.message);
    let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
    assert!(matches!(result, Err(SignInFault::NotSigned)), "{result:?}");
    let mut signed = unsigned(&bench, &started, address(&key(1)), 1);
    signed.signature = sign(&key(1), &unsigned(&bench, &started, address(&key(1)), 1).message);
    let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
    assert!(matches!(result, Err(SignInFault::NotSigned)), "{result:?}");
}

#[tokio::test]
async fn a_chain_that_gives_no_answer_says_nothing_about_a_signature_and_burns_nothing() {
    let answers = [
        error(-32005, "limit exceeded"),
        error(-32601, "the method eth_call does not exist"),
        FakeResponse::json(&json!({ "jsonrpc": "2.0", "id": 1, "result": null })),
        FakeResponse::Status(200, "<html>".to_owned()),
        FakeResponse::Status(429, "{}".to_owned()),
        FakeResponse::Status(500, format!("{{\"result\":\"{GOOD}\"}}")),
        result(&format!("0x{}", "00".repeat(1 << 20))),
        result("0xzz"),
        FakeResponse::TimeOut,
    ];
    for answer in answers {
        let response = answer.clone();
        let chain = chain(1, move || response.clone()).await;
        let bench = bench(&[(1, &chain)]);
        let started = bench.begin().await;
        let mut signed = unsigned(&bench, &started, address(&key(1)), 1);
        let good = sign(&key(1), &signed.message);
        signed.signature = sign(&key(2), &signed.message);
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        assert!(matches!(result, Err(SignInFault::Unavailable(_))), "{answer:?}: {result:?}");
        if matches!(answer, FakeResponse::TimeOut) {
            tokio::time::resume();
        }
        signed.signature = good;
        bench.auth.verify(&signed, Some(&started.browser), bench.now).await.unwrap();
    }
}
