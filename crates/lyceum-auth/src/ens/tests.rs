//! Normalization, namehash and DNS encoding.

use alloy_primitives::hex;

use super::{dns_encode, namehash, normalized};

#[test]
fn a_name_is_a_number() {
    let check = |name: &str, number: &str| assert_eq!(hex::encode(namehash(name)), number, "{name}");
    check("", "0000000000000000000000000000000000000000000000000000000000000000");
    check("eth", "93cdeb708b7545dc668eb9280176169d1c33cfd8ed6f04690a0bcc88a93fc4ae");
    check("foo.eth", "de9b09fd7c5f901e23a3f19fecc54828e9c848539801e86591bd9801b019f84f");
}

#[test]
fn a_name_is_taken_only_as_it_is_written_for_all() {
    for name in ["alice.eth", "a.b.eth", "🦉.eth", "ülk.eth"] {
        assert_eq!(normalized(name).as_deref(), Some(name));
    }
    for name in [
        "",
        "Alice.eth",
        "alice .eth",
        "al\u{200b}ice.eth",
        "аlice.eth",
        "a..eth",
        "<script>.eth",
        "alice.eth\n",
    ] {
        assert_eq!(normalized(name), None, "{name:?}");
    }
}

#[test]
fn a_name_is_written_label_by_label() {
    assert_eq!(dns_encode("foo.eth").as_deref(), Some(&b"\x03foo\x03eth\x00"[..]));
    assert_eq!(dns_encode("a..eth"), None);
    assert_eq!(dns_encode(&format!("{}.eth", "a".repeat(256))), None);
}
