//! Quoting of YAML strings.

use super::quote;

#[track_caller]
fn check(text: &str, expected: &str) {
    let mut quoted = String::new();
    quote(&mut quoted, text);
    assert_eq!(quoted, expected, "{text:?}");
}

#[test]
fn a_text_stays_on_its_line_whatever_is_in_it() {
    check("plain", r#""plain""#);
    check("yes: # no", r#""yes: # no""#);
    check(r#"she said "\n""#, r#""she said \"\\n\"""#);
    check("two\nlines\r\tand", r#""two\nlines\u000D\tand""#);
    check("---\nfake: true\n---", r#""---\nfake: true\n---""#);
    check("Größe 🌍", "\"Größe 🌍\"");
    check("\0\u{7f}\u{85}\u{a0}\u{2028}\u{feff}", r#""\u0000\u007F\u0085\u00A0\u2028\uFEFF""#);
}
