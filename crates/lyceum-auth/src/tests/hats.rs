//! Parsing of hat ids.

use crate::Hat;

#[track_caller]
fn check(text: &str, id: Option<&str>) {
    let hat = Hat::parse(text).ok().map(|hat| format!("{hat:?}"));
    assert_eq!(hat.as_deref(), id, "{text:?}");
}

#[test]
fn a_hat_is_its_tree_and_its_levels() {
    check("30", Some("0x0000001e00000000000000000000000000000000000000000000000000000000"));
    check("30.3.1", Some("0x0000001e00030001000000000000000000000000000000000000000000000000"));
    check("30.3.5", Some("0x0000001e00030005000000000000000000000000000000000000000000000000"));
    check("4294967295.65535", Some("0xffffffffffff0000000000000000000000000000000000000000000000000000"));
    check(
        "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1",
        Some("0x0000000100010001000100010001000100010001000100010001000100010001"),
    );
}

#[test]
fn what_is_no_hat_is_refused() {
    let bad =
        ["", "0", "30.", "30.0", "30.65536", "4294967296", "30.3.x", "+30", "030", "-1", " 30", "30.3.1 "];
    for text in bad {
        check(text, None);
    }
    check("1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1", None);
}
