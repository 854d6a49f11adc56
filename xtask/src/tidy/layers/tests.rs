//! Tests of the layering rule.

use super::faults;
use crate::tidy::file;

#[track_caller]
fn check(name: &str, tables: &str, expected: &[&str]) {
    let text = format!("[package]\nname = \"{name}\"\n\n{tables}");
    let found = faults(&[file("Cargo.toml", &text)]).expect(&text);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (fault, part) in found.iter().zip(expected) {
        assert!(fault.contains(part), "{fault:?} should contain {part:?}");
    }
}

#[test]
fn an_arrow_down_is_fine() {
    check("lyceum-content", "[dependencies]\nlyceum-model.workspace = true\nserde = \"1\"", &[]);
    check("lyceum", "[dependencies]\nlyceum-skills = { path = \"../lyceum-skills\" }", &[]);
}

#[test]
fn an_arrow_up_or_sideways_names_its_line_and_a_better_room() {
    check(
        "lyceum-auth",
        "[dependencies]\nserde = \"1\"\nlyceum-search.workspace = true",
        &[
            "Cargo.toml:6: lyceum-auth may not use lyceum-search: remove the line and move the code that needs it to lyceum (",
        ],
    );
    check(
        "lyceum-model",
        "[dependencies.lyceum-content]\nworkspace = true",
        &[
            "Cargo.toml:4: lyceum-model may not use lyceum-content: remove the line and move the code that needs it to lyceum-content or",
        ],
    );
}

#[test]
fn renaming_and_platform_tables_do_not_hide_an_arrow() {
    check(
        "lyceum-model",
        "[dependencies]\nx = { package = \"lyceum-store\", path = \"x\" }",
        &["may not use lyceum-store"],
    );
    check(
        "lyceum-model",
        "[target.'cfg(unix)'.dependencies]\nlyceum-store = \"1\"",
        &["may not use lyceum-store"],
    );
    check("lyceum-model", "[build-dependencies]\nlyceum-store = \"1\"", &["may not use lyceum-store"]);
}

#[test]
fn only_tests_may_use_the_testkit() {
    check("lyceum", "[dev-dependencies]\nlyceum-testkit.workspace = true", &[]);
    check(
        "lyceum",
        "[dependencies]\nlyceum-testkit.workspace = true",
        &["move the line to [dev-dependencies]"],
    );
    check("lyceum-testkit", "[dependencies]\nlyceum.workspace = true", &[]);
}

#[test]
fn xtask_stands_alone() {
    check("xtask", "[dependencies]\nlyceum-model.workspace = true", &["xtask may use lyceum-harness"]);
    check("lyceum", "[dependencies]\nxtask = { path = \"../../xtask\" }", &["nothing depends on xtask"]);
}

#[test]
fn a_crate_without_a_layer_is_refused() {
    check("lyceum-extras", "[dependencies]", &["`lyceum-extras` has no layer; add a line"]);
}
