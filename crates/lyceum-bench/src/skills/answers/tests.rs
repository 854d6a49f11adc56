//! Tests of telling answers apart.

use super::{Outcome, of_get_skill};

#[track_caller]
fn check(structured: &str, expected: &Outcome) {
    let answer = format!(r#"{{"result":{{"structuredContent":{structured}}}}}"#);
    assert_eq!(of_get_skill(&answer).unwrap(), *expected, "{structured}");
}

#[test]
fn each_form_is_told_apart() {
    check(r#"{"skill_path":"ui/auth","score":1}"#, &Outcome::Found("ui/auth".to_owned()));
    check(r#"{"ambiguous":true,"candidates":[]}"#, &Outcome::Ambiguous);
    check(r#"{"no_match":true}"#, &Outcome::Nothing);
}

#[test]
fn a_failure_is_no_answer() {
    assert!(of_get_skill(r#"{"result":{"isError":true,"structuredContent":{"no_match":true}}}"#).is_err());
    assert!(of_get_skill(r#"{"error":{"code":-32601}}"#).is_err());
}
