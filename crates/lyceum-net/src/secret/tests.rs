//! Parsing of secrets, and that they are never shown.

use super::*;

#[test]
fn a_secret_is_one_line_and_a_key_one_visible_word() {
    #[track_caller]
    fn check(text: &str, line: bool, word: bool, signature: bool) {
        assert_eq!(Secret::new(text).is_ok(), line, "{text:?}");
        assert_eq!(Secret::for_header(text).is_ok(), word, "{text:?}");
        assert_eq!(Secret::for_signature(text).is_some(), signature, "{text:?}");
    }
    check("sk-1234", true, true, true);
    check(" sk-1234\n", true, true, true);
    check("", false, false, false);
    check(" \n", false, false, false);
    check("two words", true, false, true);
    check("line\nline", false, false, true);
    check("schlüssel", true, false, true);
    check(&"x".repeat(5_000), true, false, true);
    check(&"x".repeat(17_000), false, false, true);
}

#[test]
fn a_secret_never_shows() {
    let secret = Secret::for_header("sk-1234").unwrap();
    assert_eq!(format!("{secret:?}"), "Secret(…)");
    let header = secret.bearer().unwrap();
    assert_eq!(header, "Bearer sk-1234");
    assert!(!format!("{header:?}").contains("sk-1234"));
    assert_eq!(Secret::new("schlüssel").unwrap().bearer(), Err(InvalidSecret::NotOneWord));
}

#[test]
fn spaces_around_a_secret_are_no_part_of_it() {
    assert_eq!(Secret::new("  abc\n"), Secret::new("abc"));
    assert_ne!(Secret::new("abc"), Secret::new("abd"));
}
