//! Tests of parsing the output of the conformance suite.

use super::{Summary, failed_checks, required};

const OUTPUT: &str = "\
Running requirements 2026-07-28 (4 scenarios) against http://127.0.0.1:1/mcp
=== Running scenario: tools-list ===

=== SUMMARY ===
✓ tools-list: 3 passed, 0 failed
✗ caching: 4 passed, 3 failed
✓ idle: 0 passed, 0 failed
✗ tasks-lifecycle: 1 passed, 8 failed
✓ warned: 2 passed, 0 failed, 1 warnings

Total: 8 passed, 11 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
";

#[track_caller]
fn check(output: &str, name: &str, fault: Option<&str>) {
    let faults = Summary::parse(output).faults(&[name.to_owned()]);
    assert_eq!(faults.first().map(String::as_str), fault);
}

#[test]
fn a_required_scenario_must_have_run_and_passed() {
    check(OUTPUT, "tools-list", None);
    check(OUTPUT, "warned", None);
    check(OUTPUT, "caching", Some("caching: FAILED (4 passed, 3 failed)"));
    check(OUTPUT, "idle", Some("idle: skipped by the suite (0 passed, 0 failed)"));
    check(OUTPUT, "ping", Some("ping: required, but it was not run"));
}

#[test]
fn an_output_without_a_summary_is_not_a_pass() {
    check("", "tools-list", Some("tools-list: required, but it was not run"));
    check(
        "=== SUMMARY ===\n\nTotal: 0 passed, 0 failed\n",
        "ping",
        Some("ping: required, but it was not run"),
    );
}

#[test]
fn what_is_not_scored_is_kept_apart() {
    let shown: Vec<_> = Summary::parse(OUTPUT).not_scored.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["tasks-lifecycle: FAILED (1 passed, 8 failed)"]);
}

#[test]
fn requirements_are_the_names_below_server() {
    let yaml = "# - not-this\nserver:\n  # why\n  - ping\n\n  - tools-list\nclient:\n  - other\n";
    assert_eq!(required(yaml), ["ping", "tools-list"]);
}

#[test]
fn failed_checks_are_named_with_their_reason() {
    let json =
        r#"[{"id":"a","status":"SUCCESS"},{"id":"b","status":"FAILURE","errorMessage":"no such tool"}]"#;
    assert_eq!(failed_checks("caching", json), "  caching / b: no such tool\n");
}
