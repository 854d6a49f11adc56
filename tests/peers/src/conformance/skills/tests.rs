//! Tests of evaluating the scenarios of the skills extension.

use super::judge;

const CACHE: &str = "sep-2640-skills-list-cache-attributes";

#[track_caller]
fn check(revision: &str, checks: &[(&str, &str)], faults: &[&str]) {
    let checks: Vec<_> = checks
        .iter()
        .map(|(id, status)| serde_json::json!({ "id": id, "status": status, "errorMessage": "why" }))
        .collect();
    let verdict = judge(revision, &serde_json::Value::from(checks).to_string()).unwrap();
    assert_eq!(verdict.faults, faults);
}

#[test]
fn a_failure_is_a_fault_and_a_warning_is_not() {
    check("2026-07-28", &[("a", "SUCCESS"), ("b", "FAILURE"), ("c", "WARNING"), ("d", "INFO")], &["b: why"]);
}

#[test]
fn only_what_the_revision_does_not_know_may_be_skipped() {
    check("2025-11-25", &[("a", "SUCCESS"), (CACHE, "SKIPPED")], &[]);
    let fault = format!("{CACHE}: why (skipped)");
    check("2026-07-28", &[("a", "SUCCESS"), (CACHE, "SKIPPED")], &[&fault]);
    check("2025-11-25", &[("a", "SUCCESS"), ("b", "SKIPPED")], &["b: why (skipped)"]);
}

#[test]
fn what_is_not_understood_is_no_pass() {
    assert!(judge("2026-07-28", "[]").is_err());
    assert!(judge("2026-07-28", r#"[{"id":"a","status":"PENDING"}]"#).is_err());
    assert!(judge("2026-07-28", "").is_err());
}
