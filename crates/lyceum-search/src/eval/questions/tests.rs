//! Reading `eval.yaml`, and errors in it.

use super::{Question, parse};
use crate::eval::{Expected, SetError};

fn questions(text: &str) -> Result<Vec<Question>, SetError> {
    parse("eval.yaml", text, |name| match name {
        "docs" => vec!["docs".to_owned(), "guide".to_owned()],
        _ => Vec::new(),
    })
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let fault = questions(text).unwrap_err().to_string();
    assert!(fault.starts_with(expected), "{fault}");
}

#[test]
fn questions_have_what_is_expected_and_what_may_be_found() {
    let text = "- question: how do we deploy?\n  expect: [docs/deploy.md, guides/]\n\
        - question: who is on call?\n  expect: [person/ada]\n  \
        filters: {contentType: docs, group: ops, tags: [a, b], since: 2026-01-31, until: 2026-01-31}\n";
    let questions = questions(text).unwrap();
    let named = |names: &[&str]| Expected::Named(names.iter().map(|&name| name.to_owned()).collect());
    assert_eq!(questions[0].expected, named(&["docs/deploy.md", "guides/"]));
    assert!(questions[0].filter.is_empty());
    let filter = &questions[1].filter;
    assert_eq!(filter.content_types, ["docs", "guide"]);
    assert_eq!((filter.group.as_deref(), filter.tags.len()), (Some("ops"), 2));
    assert_eq!(filter.since.unwrap().to_string(), "2026-01-31T00:00:00Z");
    assert_eq!(filter.until.unwrap().to_string(), "2026-01-31T23:59:59.999999999Z");
}

#[test]
fn a_fault_has_its_entry_and_what_to_write() {
    check("", "eval.yaml: has no questions; write a list of entries such as\n- question: ");
    check("question: what", "eval.yaml: has no questions; write a list");
    check("- [", "eval.yaml: is not YAML: ");
    check(
        "- question: a\n  expect: [b]\n- question: c\n",
        "eval.yaml, entry 2: missing field `expect`; write",
    );
    check("- question: a\n  expected: [b]\n", "eval.yaml, entry 1: unknown field `expected`");
    check("- question: ' '\n  expect: [b]\n", "eval.yaml, entry 1: the question is empty; ");
    check("- question: a\n  expect: []\n", "eval.yaml, entry 1: `expect` is empty; ");
    let with = |filters: &str| format!("- question: a\n  expect: [b]\n  filters: {{{filters}}}\n");
    check(&with("contentType: poem"), "eval.yaml, entry 1: filters.contentType: there is no type \"poem\"");
    check(
        &with("since: soon"),
        "eval.yaml, entry 1: filters.since: \"soon\" is not a day; write it as 2026-01-31",
    );
    check(&with("colour: red"), "eval.yaml, entry 1: unknown field `colour`");
    let twice = "- question: a\n  expect: [b]\n- question: a\n  expect: [c]\n";
    check(twice, "eval.yaml, entry 2: duplicates entry 1; ");
}

#[test]
fn a_bomb_of_aliases_is_a_fault() {
    let mut text = "- &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in ["b", "c", "d", "e", "f", "g"].iter().zip(["a", "b", "c", "d", "e", "f"]) {
        let aliases = vec![format!("*{before}"); 10].join(", ");
        text.push_str(&format!("- &{name} [{aliases}]\n"));
    }
    check(&text, "eval.yaml: is not YAML: ");
}
