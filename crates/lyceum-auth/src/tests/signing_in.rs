//! Sign-in with an Ethereum account.

mod changes;

use std::sync::Arc;

use futures::future::join_all;

use super::{Bench, CALLBACK, address, key, sign};
use crate::{Key, RejectedMessage, ResumeError, SignInFault, oauth::client::ClientMetadata, siwe};

#[track_caller]
fn assert_rejected(result: &Result<String, SignInFault>, why: &RejectedMessage) {
    assert!(matches!(result, Err(SignInFault::Unfit(rejected)) if rejected == why), "{result:?}");
}

#[tokio::test]
async fn an_account_signs_in_and_the_client_gets_a_code_and_who_gave_it() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let signed = bench.sign(&started, &key(1));
    let sent = bench.auth.verify(&signed, Some(&started.browser), bench.now).await.unwrap();
    assert!(sent.starts_with("http://127.0.0.1:4000/callback?code=lyc_ac_"), "{sent}");
    assert!(sent.ends_with("&state=s1&iss=http%3A%2F%2F127.0.0.1%3A8787"), "{sent}");
}

#[tokio::test]
async fn the_message_says_who_may_do_what() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let signed = bench.sign_with(&started, &key(1), "0123456789abcdef");
    let message = signed
        .message
        .replace(&started.sign_in.id, "[id]")
        .replace(&address(&key(1)).to_string(), "[account]");
    insta::assert_snapshot!(message, @r"
    127.0.0.1:8787 wants you to sign in with your Ethereum account:
    [account]

    Allow Test client (127.0.0.1) to act for me with: knowledge:read mcp:read skills:run sources:refresh

    URI: http://127.0.0.1:8787
    Version: 1
    Chain ID: 1
    Nonce: 0123456789abcdef
    Issued At: 2026-11-16T12:00:00Z
    Expiration Time: 2026-11-16T12:05:00Z
    Request ID: [id]
    ");
}

#[tokio::test]
async fn s17_a_name_can_not_pass_for_another_part_of_what_is_signed() {
    let mut bench = Bench::new();
    for (name, shown) in [
        (
            "Claude (claude.ai) to act for me with: mcp:read. Also",
            "Claude claude.ai to act for me with mcpread. Also",
        ),
        ("(((", "a program"),
        ("Team-1_x.y", "Team-1_x.y"),
    ] {
        let client = ClientMetadata {
            redirect_uris: vec![CALLBACK.to_owned()],
            client_name: Some(name.to_owned()),
            ..ClientMetadata::default()
        };
        bench.client = bench.auth.register(&client, bench.now).unwrap().client_id;
        let started = bench.begin().await;
        let message = bench.sign(&started, &key(1)).message;
        let statement = message.lines().nth(3).unwrap();
        assert!(
            statement.starts_with(&format!("Allow {shown} (127.0.0.1) to act for me with: ")),
            "{statement}"
        );
        assert_eq!(statement.matches('(').count(), 1, "{statement}");
    }
}

#[tokio::test]
async fn of_fifty_sign_ins_with_one_nonce_one_counts() {
    let bench = Arc::new(Bench::new());
    let started = bench.begin().await;
    let signed = bench.sign(&started, &key(1));
    let all = join_all((0..50).map(|_| bench.auth.verify(&signed, Some(&started.browser), bench.now))).await;
    assert_eq!(all.iter().filter(|one| one.is_ok()).count(), 1);
    assert_eq!(all.iter().filter(|one| matches!(one, Err(SignInFault::Used))).count(), 49);
}

#[tokio::test]
async fn a_nonce_counts_for_one_sign_in_and_not_for_the_next() {
    let bench = Bench::new();
    let nonce = bench.auth.nonce(bench.now).unwrap();
    let (first, second) = (bench.begin().await, bench.begin().await);
    let signed = bench.sign_with(&first, &key(1), &nonce);
    bench.auth.verify(&signed, Some(&first.browser), bench.now).await.unwrap();
    let signed = bench.sign_with(&second, &key(1), &nonce);
    let result = bench.auth.verify(&signed, Some(&second.browser), bench.now).await;
    assert!(matches!(result, Err(SignInFault::Used)), "{result:?}");
}

#[tokio::test]
async fn a_message_for_one_sign_in_does_not_count_for_another() {
    let bench = Bench::new();
    let (first, second) = (bench.begin().await, bench.begin().await);
    let mut signed = bench.sign(&first, &key(1));
    signed.state = second.state.clone();
    assert_rejected(
        &bench.auth.verify(&signed, Some(&second.browser), bench.now).await,
        &RejectedMessage::Changed,
    );
}

#[tokio::test]
async fn a_nonce_that_is_not_ours_or_too_old_does_not_count() {
    let mut bench = Bench::new();
    let started = bench.begin().await;
    let foreign = siwe::nonce(&Key([8; 32]), bench.now).unwrap();
    for nonce in ["0123456789abcdef", foreign.as_str()] {
        let signed = bench.sign_with(&started, &key(1), nonce);
        assert_rejected(
            &bench.auth.verify(&signed, Some(&started.browser), bench.now).await,
            &RejectedMessage::Nonce,
        );
    }
    let old = bench.auth.nonce(bench.now).unwrap();
    bench.later(301);
    let signed = bench.sign_with(&started, &key(1), &old);
    assert_rejected(
        &bench.auth.verify(&signed, Some(&started.browser), bench.now).await,
        &RejectedMessage::Nonce,
    );
}

#[tokio::test]
async fn a_sign_in_goes_on_in_its_own_browser_and_not_for_ever() {
    let mut bench = Bench::new();
    let (started, other) = (bench.begin().await, bench.begin().await);
    let signed = bench.sign(&started, &key(1));
    for browser in [None, Some(other.browser.as_str()), Some("")] {
        let result = bench.auth.verify(&signed, browser, bench.now).await;
        assert!(matches!(result, Err(SignInFault::Lost(ResumeError::OtherBrowser))), "{result:?}");
        let result = bench.auth.deny(&started.state, browser, bench.now).await;
        assert!(matches!(result, Err(SignInFault::Lost(ResumeError::OtherBrowser))), "{result:?}");
    }
    let forged = started.state.replacen('a', "b", 1);
    let result = bench.auth.deny(&forged, Some(&started.browser), bench.now).await;
    assert!(matches!(result, Err(SignInFault::Lost(ResumeError::Unknown))), "{result:?}");
    bench.later(601);
    let result = bench.auth.deny(&started.state, Some(&started.browser), bench.now).await;
    assert!(matches!(result, Err(SignInFault::Lost(ResumeError::TooOld))), "{result:?}");
}

#[tokio::test]
async fn a_person_who_says_no_is_sent_back_with_that() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let sent = bench.auth.deny(&started.state, Some(&started.browser), bench.now).await.unwrap();
    assert_eq!(
        sent,
        "http://127.0.0.1:4000/callback?error=access_denied&error_description=the+user+denied+access&state=s1&iss=http%3A%2F%2F127.0.0.1%3A8787"
    );
}

#[tokio::test]
async fn a_chain_that_is_down_burns_nothing() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let mut signed = bench.sign(&started, &key(1));
    let good = signed.signature.clone();
    // Not the account's key: the account may be a contract, so the chain is called.
    signed.signature = sign(&key(2), &signed.message);
    let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
    assert!(matches!(result, Err(SignInFault::Unavailable(_))), "{result:?}");
    signed.signature = good;
    bench.auth.verify(&signed, Some(&started.browser), bench.now).await.unwrap();
}

#[tokio::test]
async fn no_signature_is_no_signature() {
    let bench = Bench::new();
    for signature in ["", "0x", "0xzz", "hello"] {
        let started = bench.begin().await;
        let mut signed = bench.sign(&started, &key(1));
        let good = std::mem::replace(&mut signed.signature, signature.to_owned());
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        assert!(matches!(result, Err(SignInFault::NotSigned)), "{result:?}");
        // The nonce is consumed.
        signed.signature = good;
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        assert!(matches!(result, Err(SignInFault::Used)), "{result:?}");
    }
}

#[tokio::test]
async fn a_message_is_written_for_an_account_on_a_chain_that_is_used_here() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let browser = Some(started.browser.as_str());
    let account = address(&key(1)).to_string();
    let message = |account: &str, chain: u64| {
        bench.auth.message(&started.state, browser, (account, chain), "0123456789abcdef", bench.now)
    };
    // Whatever case a wallet uses, the message has the EIP-55 checksum.
    for written in [account.clone(), account.to_lowercase(), account.to_uppercase().replacen("0X", "0x", 1)] {
        let message = message(&written, 1).unwrap().to_string();
        assert!(message.contains(&format!("\n{account}\n")), "{message}");
    }
    let short = &account[..account.len() - 1];
    for (written, chain) in [(account.as_str(), 10), (&account, 0), (short, 1), ("alice.eth", 1), ("", 1)] {
        let result = message(written, chain);
        assert!(matches!(&result, Err(SignInFault::Account(chains)) if *chains == [1]), "{result:?}");
    }
}
