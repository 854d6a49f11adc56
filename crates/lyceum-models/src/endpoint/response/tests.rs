//! Redaction of error messages.

use lyceum_net::Secret;

use super::redact;

#[test]
fn what_others_say_is_one_short_line_without_the_key() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text, Some(&Secret::new("abcd/efghijkl").unwrap())), expected, "{text:?}");
    }
    check("no  such\n model\u{7}", "no such model");
    check("key abcd/efghijkl.", "key ….");
    check(r#"{"key":"abcd\/efghijkl"}"#, r#"{"key":"…"}"#);
    check("key abcd****ijkl is wrong", "key … is wrong");
    check("key 'abcd...ijkl' is wrong", "key … is wrong");
    let (long, cut) = ("x".repeat(195) + "abcd/efghijkl and more", "x".repeat(195) + "… and");
    check(&long, &cut);
}
