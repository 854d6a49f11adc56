//! Frontmatter: regular and hostile input.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{FrontmatterFault, parse};

#[track_caller]
fn check(text: &str, fields: serde_json::Value, body: &str) {
    let parts = parse(text).unwrap_or_else(|fault| panic!("{text:?}: {fault}"));
    assert_eq!((serde_json::Value::Object(parts.fields), parts.body), (fields, body), "{text:?}");
}

#[track_caller]
fn check_fault(text: &str, expected: &str) {
    let began = Instant::now();
    let fault = parse(text).unwrap_err().to_string();
    assert!(fault.contains(expected), "{fault}");
    assert!(began.elapsed() < Duration::from_secs(2), "took {:?}", began.elapsed());
}

#[test]
fn fields_and_body_are_told_apart() {
    check("---\na: 1\n---\nbody\n", json!({ "a": 1 }), "body\n");
    check("\u{FEFF}---\r\na: x\r\n---\r\nbody", json!({ "a": "x" }), "body");
    check("---\na: 1\n---", json!({ "a": 1 }), "");
    check("---\n---\nbody", json!({}), "body");
    check("---yaml\na: 1\n---\n", json!({ "a": 1 }), "");
    check("---\na: |\n  x\n  y\n---\n--- not the end\n", json!({ "a": "x\ny\n" }), "--- not the end\n");
}

#[test]
fn words_stay_words() {
    check(
        "---\na: yes\nb: on\nc: 2026-01-15\n---\n",
        json!({ "a": "yes", "b": "on", "c": "2026-01-15" }),
        "",
    );
    check("---\na: true\nb: 1.5\nc: ~\n---\n", json!({ "a": true, "b": 1.5, "c": null }), "");
}

#[test]
fn a_file_without_frontmatter_says_so() {
    check_fault("# Title\n", "no frontmatter");
    check_fault("", "no frontmatter");
    check_fault("-----\ntext", "no frontmatter");
    check_fault("---\na: 1\n", "not closed");
    check_fault("---\n- 1\n- 2\n---\n", "not a YAML mapping");
    check_fault("---\njust text\n---\n", "not a YAML mapping");
}

#[test]
fn code_in_the_frontmatter_is_never_run() {
    check_fault("---js\nmodule.exports = { a: process.pid }\n---\n", "not YAML but \"js\"");
    check_fault("---json\n{}\n---\n", "not YAML but \"json\"");
}

#[test]
fn a_key_that_is_there_twice_is_a_fault() {
    check_fault("---\na: 1\na: 2\n---\n", "duplicate");
}

#[test]
fn a_bomb_of_aliases_is_refused_at_once() {
    let mut bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let before = format!("*a{}, ", level - 1).repeat(9);
        bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    bomb.push_str("---\n");
    check_fault(&bomb, "can't be parsed as YAML");
}

#[test]
fn many_brackets_are_refused_at_once() {
    check_fault(&format!("---\na: {}\n---\n", "[".repeat(40_000)), "can't be parsed as YAML");
}

#[test]
fn a_huge_frontmatter_is_refused_unread() {
    let huge = format!("---\na: |\n{}---\n", "  text\n".repeat(20_000));
    assert_eq!(parse(&huge), Err(FrontmatterFault::TooLarge));
}

#[test]
fn lines_are_counted_from_the_first_line_of_the_file() {
    check_fault("---\ntitle: T\ntags: [a\ndate: 2026-01-01\n---\n", "line 4");
    check_fault("---\na: 1\nb: 2\na: 3\n---\n", "line 4");
}
