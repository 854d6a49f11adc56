//! Modified messages, and messages outside their validity.

use super::assert_rejected;
use crate::{
    RejectedMessage, SignInFault,
    tests::{Bench, Signed, key, sign},
};

#[tokio::test]
async fn a_message_that_was_changed_does_not_count() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let good = bench.sign(&started, &key(1));
    let changes = [
        ("127.0.0.1:8787 wants", "evil.com wants", Some(RejectedMessage::Site)),
        ("127.0.0.1:8787 wants", "127.0.0.1 wants", Some(RejectedMessage::Site)),
        ("127.0.0.1:8787 wants", "http://127.0.0.1:8787 wants", Some(RejectedMessage::Site)),
        ("127.0.0.1:8787 wants", "127.0.0.1:8788 wants", Some(RejectedMessage::Site)),
        ("127.0.0.1:8787 wants", "127.0.0.1:8787.evil.com wants", Some(RejectedMessage::Site)),
        ("127.0.0.1:8787 wants", "evil.com#127.0.0.1:8787 wants", None),
        ("127.0.0.1:8787 wants", "127.0.0.1:8787@evil.com wants", None),
        ("127.0.0.1:8787 wants", "evil.com/127.0.0.1:8787 wants", None),
        ("URI: http://127.0.0.1:8787", "URI: https://127.0.0.1:8787", Some(RejectedMessage::Site)),
        ("URI: http://127.0.0.1:8787", "URI: http://127.0.0.1:8787/", Some(RejectedMessage::Site)),
        ("URI: http://127.0.0.1:8787", "URI: http://127.0.0.1:8787.evil.com", Some(RejectedMessage::Site)),
        ("URI: http://127.0.0.1:8787", "URI: http://evil.com", Some(RejectedMessage::Site)),
        ("Version: 1", "Version: 2", None),
        ("Chain ID: 1", "Chain ID: 5", Some(RejectedMessage::Chain)),
        ("Chain ID: 1", "Chain ID: 0", Some(RejectedMessage::Chain)),
        ("0x1a642f0E3c3aF545", "0x1a642f0e3c3af545", None),
        ("0x1a642f0E3c3aF545", "0X1a642f0E3c3aF545", None),
        ("Test client", "Best client", Some(RejectedMessage::Changed)),
        ("knowledge:read ", "", Some(RejectedMessage::Changed)),
        ("Issued At: 2026-11-16T12:00:00Z", "Issued At: 2026-11-16T12:02:00Z", Some(RejectedMessage::Time)),
        (
            "Issued At: 2026-11-16T12:00:00Z",
            "Issued At: 2026-11-16T11:59:59Z",
            Some(RejectedMessage::Changed),
        ),
        (
            "Expiration Time: 2026-11-16T12:05:00Z",
            "Expiration Time: 2026-11-16T12:00:00Z",
            Some(RejectedMessage::Time),
        ),
        ("Request ID", "Not Before: 2026-11-16T12:01:00Z\nRequest ID", Some(RejectedMessage::Time)),
        ("Request ID", "Not Before: 2026-11-16T12:00:00Z\nRequest ID", Some(RejectedMessage::Changed)),
        ("Request ID: ", "Request ID: x", Some(RejectedMessage::Changed)),
        ("Allow Test", "Allow\nTest", None),
        ("Allow Test", "Allow\r\nTest", None),
        ("Allow Test", "Allow\0Test", None),
        ("Allow Test", "Аllow Test", None),
    ];
    for (from, to, why) in changes {
        let mut signed = good.clone();
        assert!(signed.message.contains(from), "{from}");
        signed.message = signed.message.replacen(from, to, 1);
        signed.signature = sign(&key(1), &signed.message);
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        match why {
            Some(why) => assert_rejected(&result, &why),
            None => assert!(
                matches!(result, Err(SignInFault::Unfit(RejectedMessage::Unreadable(_)))),
                "{result:?}"
            ),
        }
    }
    bench.auth.verify(&good, Some(&started.browser), bench.now).await.unwrap();
}

#[tokio::test]
async fn no_byte_of_a_message_can_be_another() {
    let bench = Bench::new();
    let started = bench.begin().await;
    let good = bench.sign(&started, &key(1));
    for place in 0..good.message.len() {
        let mut bytes = good.message.clone().into_bytes();
        bytes[place] = if bytes[place] == b'1' { b'2' } else { b'1' };
        let message = String::from_utf8(bytes).unwrap();
        // Signed again or not.
        for signature in [sign(&key(1), &message), good.signature.clone()] {
            let signed = Signed { message: message.clone(), signature, state: good.state.clone() };
            let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
            assert!(matches!(result, Err(SignInFault::Unfit(_))), "{message:?}: {result:?}");
        }
    }
    bench.auth.verify(&good, Some(&started.browser), bench.now).await.unwrap();
}

#[tokio::test]
async fn a_clock_may_be_a_minute_ahead_and_no_more() {
    for (seconds, is_good) in [(60, true), (61, false)] {
        let mut bench = Bench::new();
        let started = bench.begin().await;
        let nonce = bench.auth.nonce(bench.now).unwrap();
        bench.later(seconds);
        let signed = bench.sign_with(&started, &key(1), &nonce);
        bench.later(-seconds);
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        assert_eq!(result.is_ok(), is_good, "{result:?}");
    }
}

#[tokio::test]
async fn a_message_counts_for_five_minutes_and_not_one_second_longer() {
    for (seconds, is_good) in [(299, true), (300, false)] {
        let mut bench = Bench::new();
        let started = bench.begin().await;
        let signed = bench.sign(&started, &key(1));
        bench.later(seconds);
        let result = bench.auth.verify(&signed, Some(&started.browser), bench.now).await;
        assert_eq!(result.is_ok(), is_good, "{result:?}");
    }
}
