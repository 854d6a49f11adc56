//! Contract wallets: EIP-1271, and ERC-6492 for undeployed ones.

use alloy_primitives::{Address, address as account, hex};
use alloy_sol_types::{SolType, sol_data};
use serde_json::{Value, json};

use super::{GOOD, bench, chain, error, result, rpc_request, unsigned};
use crate::{
    SignInFault,
    tests::{Bench, fake_server::FakeServer},
};

/// A contract wallet.
const CONTRACT: Address = account!("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");

/// The `eth_call` requests that a chain received.
fn calls(chain: &FakeServer) -> Vec<Value> {
    let requests = chain.take_requests().iter().map(rpc_request).collect::<Vec<_>>();
    requests.into_iter().filter(|request| request["method"] == "eth_call").collect()
}

/// Signs in with a signature for an account.
async fn verify(bench: &Bench, account: Address, chain: u64, signature: &str) -> Result<String, SignInFault> {
    let started = bench.begin().await;
    let mut signed = unsigned(bench, &started, account, chain);
    signed.signature = signature.to_owned();
    bench.auth.verify(&signed, Some(&started.browser), bench.now).await
}

#[tokio::test]
async fn a_contract_is_asked_for_its_own_word() {
    let chain = chain(1, || result(GOOD)).await;
    let bench = bench(&[(1, &chain)]);
    verify(&bench, CONTRACT, 1, "0xabcdef").await.unwrap();
    let [call] = calls(&chain).try_into().unwrap();
    assert_eq!((&call["params"][0]["to"], &call["params"][1]), (&Value::Null, &json!("safe")));
    let data = call["params"][0]["data"].as_str().unwrap();
    // The selector of `isValidSignature(bytes32,bytes)`, the contract and the signature.
    for part in ["1626ba7e", "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", "abcdef"] {
        assert!(data.contains(part), "{part}");
    }
}

#[tokio::test]
async fn whatever_else_a_contract_does_is_no_signature() {
    let answers = [
        result("0x"),
        result("0x00000000000000000000000000000000000000000000000000000000000000"),
        result(&"0".repeat(66).replacen("00", "0x", 1)),
        result(&GOOD.replace("1626ba7e", "ffffffff")),
        result(&GOOD.replace("1626ba7e", "1626ba7f")),
        result(&format!("{}1", &GOOD[..65])),
        result(&GOOD[..10]),
        result(&format!("{GOOD}{}", "00".repeat(32))),
        error(3, "execution reverted"),
        error(-32000, "execution reverted: no"),
        error(-32000, "out of gas"),
        error(-32003, "EVM error OutOfGas"),
        error(-32015, "VM execution error: invalid opcode 0xfe"),
        error(-32000, "stack underflow (0 <=> 1)"),
    ];
    for answer in answers {
        let response = answer.clone();
        let chain = chain(1, move || response.clone()).await;
        let result = verify(&bench(&[(1, &chain)]), CONTRACT, 1, "0xabcdef").await;
        assert!(matches!(result, Err(SignInFault::NotSigned)), "{answer:?}: {result:?}");
    }
}

#[tokio::test]
async fn a_contract_counts_on_the_chain_of_the_message_alone() {
    let there = chain(1, || result(GOOD)).await;
    let elsewhere = chain(10, || result("0x")).await;
    let bench = bench(&[(1, &there), (10, &elsewhere)]);
    let refused = verify(&bench, CONTRACT, 10, "0xabcdef").await;
    assert!(matches!(refused, Err(SignInFault::NotSigned)), "{refused:?}");
    assert!(there.take_requests().is_empty());
    verify(&bench, CONTRACT, 1, "0xabcdef").await.unwrap();
}

#[tokio::test]
async fn a_chain_that_is_another_one_is_not_believed() {
    let chain = chain(5, || result(GOOD)).await;
    let result = verify(&bench(&[(1, &chain)]), CONTRACT, 1, "0xabcdef").await;
    assert!(matches!(result, Err(SignInFault::Unavailable(_))), "{result:?}");
    assert!(calls(&chain).is_empty());
}

/// A signature of an undeployed contract (ERC-6492).
fn wrapped(factory: Address, call: &[u8], signature: &[u8]) -> Vec<u8> {
    type Wrapped = (sol_data::Address, sol_data::Bytes, sol_data::Bytes);
    let (call, signature) = (call.to_vec(), signature.to_vec());
    let mut bytes = Wrapped::abi_encode_params(&(factory, call, signature));
    bytes.extend([0x64, 0x92].repeat(16));
    bytes
}

#[tokio::test]
async fn a_contract_that_is_not_there_yet_is_made_for_the_question() {
    let factory = account!("fB6916095ca1df60bB79Ce92cE3Ea74c37c5d359");
    let signature = hex::encode_prefixed(wrapped(factory, &[0xfa, 0xc7], &[0xab, 0xcd]));
    let good = chain(1, || result(GOOD)).await;
    verify(&bench(&[(1, &good)]), CONTRACT, 1, &signature).await.unwrap();
    let [call] = calls(&good).try_into().unwrap();
    let data = call["params"][0]["data"].as_str().unwrap();
    assert!(data.contains("fb6916095ca1df60bb79ce92ce3ea74c37c5d359") && data.contains("fac7"), "{data}");
    // If the factory reverts, there is no contract, and calling it returns nothing.
    let bad = chain(1, || result("0x")).await;
    let refused = verify(&bench(&[(1, &bad)]), CONTRACT, 1, &signature).await;
    assert!(matches!(refused, Err(SignInFault::NotSigned)), "{refused:?}");
}

#[tokio::test]
async fn what_can_be_no_signature_is_not_asked_about() {
    let chain = chain(1, || result(GOOD)).await;
    let bench = bench(&[(1, &chain)]);
    let whole = wrapped(CONTRACT, &[1; 40], &[2; 40]);
    let cut = [&whole[40..]].concat();
    for signature in [vec![], [0x64, 0x92].repeat(16), cut, vec![1; 16 * 1024 + 1]] {
        let result = verify(&bench, CONTRACT, 1, &hex::encode_prefixed(&signature)).await;
        assert!(matches!(result, Err(SignInFault::NotSigned)), "{} bytes: {result:?}", signature.len());
    }
    assert!(chain.take_requests().is_empty());
}

#[tokio::test]
async fn a_contract_signs_in_on_the_chain_of_its_roles_and_a_key_on_any() {
    let (one, ten) = (chain(1, || result(GOOD)).await, chain(10, || result(GOOD)).await);
    let bench = Bench::with(|settings| {
        settings.chains = [(1, &one), (10, &ten)]
            .map(|(id, chain)| crate::Chain::new(id, &chain.url).unwrap().into())
            .to_vec();
        let hats = crate::Hats { contract: crate::HATS_CONTRACT, hats: Vec::new() };
        settings.hats = Some((10, hats));
    });
    let elsewhere = verify(&bench, CONTRACT, 1, "0xabcdef").await;
    assert!(
        matches!(elsewhere, Err(SignInFault::Unfit(crate::RejectedMessage::ContractElsewhere(10)))),
        "{elsewhere:?}"
    );
    verify(&bench, CONTRACT, 10, "0xabcdef").await.unwrap();
    let started = bench.begin().await;
    let signed = bench.sign(&started, &crate::tests::key(1));
    bench.auth.verify(&signed, Some(&started.browser), bench.now).await.unwrap();
}
