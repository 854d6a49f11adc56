//! Parsing tool results.

use super::{Outcome, parse_get_skill};

#[track_caller]
fn check(structured: &str, expected: &Outcome) {
    let response = format!(r#"{{"result":{{"structuredContent":{structured}}}}}"#);
    assert_eq!(parse_get_skill(&response).unwrap(), *expected, "{structured}");
}

#[test]
fn each_form_is_told_apart() {
    check(r#"{"skill_path":"ui/auth","score":1}"#, &Outcome::Match("ui/auth".to_owned()));
    check(r#"{"ambiguous":true,"candidates":[]}"#, &Outcome::Ambiguous);
    check(r#"{"no_match":true}"#, &Outcome::NoMatch);
}

#[test]
fn a_failure_is_no_answer() {
    assert!(parse_get_skill(r#"{"result":{"isError":true,"structuredContent":{"no_match":true}}}"#).is_err());
    assert!(parse_get_skill(r#"{"error":{"code":-32601}}"#).is_err());
}
