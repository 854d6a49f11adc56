//! Parsing of EIP-4361 messages.

use crate::Message;

const GOOD: &str = "example.org wants you to sign in with your Ethereum account:
0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2

I accept the Terms: https://example.org/tos

URI: https://example.org/login
Version: 1
Chain ID: 1
Nonce: 32891756
Issued At: 2026-09-30T16:25:24Z
Expiration Time: 2026-09-30T16:35:24Z
Not Before: 2026-09-30T16:25:24Z
Request ID: some-id
Resources:
- ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/
- https://example.com/my-web2-claim.json";

#[track_caller]
fn check(text: &str, is_good: bool) {
    let read = Message::parse(text);
    assert_eq!(read.is_ok(), is_good, "{text:?}: {read:?}");
    if let Ok(message) = read {
        assert_eq!(message.to_string(), text);
    }
}

#[test]
fn a_message_is_read_and_written_byte_for_byte() {
    check(GOOD, true);
    check(&GOOD.replace("example.org wants", "https://example.org wants"), true);
    check(&GOOD.replace("example.org wants", "example.org:8080 wants"), true);
    check(&GOOD.replace("\nI accept the Terms: https://example.org/tos\n", "\n"), true);
    check(GOOD.split_once("\nExpiration").unwrap().0, true);
    check(GOOD.split_once("\n- ipfs").unwrap().0, true);
    check(&GOOD.replace("16:25:24Z\nExp", "16:25:24.123+02:00\nExp"), true);
}

#[test]
fn a_message_that_is_off_by_anything_is_refused() {
    let changes = [
        (" wants you", " Wants you"),
        ("0xC02a", "0xc02a"),
        ("0xC02a", "C02a"),
        ("\n\nI accept", "\nI accept"),
        ("tos\n\nURI", "tos\nURI"),
        ("I accept", "I\raccept"),
        ("I accept", "I\0accept"),
        ("I accept", "Ι accept"),
        ("I accept", "\"I accept"),
        ("Version: 1", "Version: 2"),
        ("Version: 1\n", ""),
        ("Chain ID: 1\n", "Chain ID: 01\n"),
        ("Chain ID: 1\n", "Chain ID: +1\n"),
        ("Chain ID: 1\n", "Chain ID: one\n"),
        ("Chain ID: 1\n", "Chain ID: 99999999999999999999\n"),
        ("Nonce: 32891756", "Nonce: 3289175"),
        ("Nonce: 32891756", "Nonce: 3289-1756"),
        ("Nonce: 32891756", "Nonce:  32891756"),
        ("Issued At: 2026-09-30T16:25:24Z", "Issued At: 2026-09-30 16:25:24Z"),
        ("Issued At: 2026-09-30T16:25:24Z", "Issued At: yesterday"),
        ("Issued At: 2026-09-30T16:25:24Z", "Issued At: 2026-09-30T16:25:24"),
        ("Request ID: some-id", "Request ID: some id"),
        ("Resources:\n", "Resources: \n"),
        ("- ipfs", "ipfs"),
        ("URI: https://example.org/login", "URI: not a uri"),
        ("example.org wants", "example.org/x wants"),
        ("example.org wants", "evil@example.org wants"),
        ("example.org wants", "evil.com#example.org wants"),
        ("example.org wants", " wants"),
        (
            "Nonce: 32891756\nIssued At: 2026-09-30T16:25:24Z",
            "Issued At: 2026-09-30T16:25:24Z\nNonce: 32891756",
        ),
    ];
    for (from, to) in changes {
        assert!(GOOD.contains(from), "{from:?}");
        check(&GOOD.replacen(from, to, 1), false);
    }
    check(&format!("{GOOD}\n"), false);
    check(&format!("\n{GOOD}"), false);
    check(&GOOD.replace('\n', "\r\n"), false);
    check("", false);
    check(&format!("{GOOD}\n- https://x/{}", "x".repeat(9000)), false);
}
