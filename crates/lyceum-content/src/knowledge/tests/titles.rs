//! Titles of documents.

use serde_json::{Value, json};

use crate::knowledge::{Dialect, atx_heading, plain_text, title};

#[track_caller]
fn check(fields: &Value, body: &str, path: &str, expected: &str) {
    let plain = plain_text(body, Dialect::of_path(path));
    assert_eq!(title(fields.as_object().unwrap(), &plain, path), expected, "{path}: {body:?}");
}

#[test]
fn a_declared_title_comes_first_then_a_name() {
    check(&json!({ "title": " Cells ", "name": "x" }), "# Heading", "a.md", "Cells");
    check(&json!({ "title": "", "name": "xlsx" }), "# Requirements for Outputs\n", "xlsx/SKILL.md", "xlsx");
    check(&json!({ "title": 7 }), "# Heading", "a.md", "Heading");
}

#[test]
fn the_only_first_level_heading_is_the_title() {
    let none = json!({});
    check(&none, "text\n\n# The **First** {#first}\n\n## Second", "a.md", "The First");
    check(&none, "The Title\n=========\n\n## Second", "a.md", "The Title");
    check(&none, "```sh\n# a comment\n```\n\n# Real", "a.md", "Real");
    check(&none, "# <Icon name=\"x\" /> Install\n", "a.mdx", "Install");
    check(&none, "# See [[Vault|the vault]]\n", "a.md", "See the vault");
}

#[test]
fn a_later_heading_is_never_the_title() {
    let none = json!({});
    check(&none, "Text.\n\n## Open Settings\n\n### More", "en/Settings.md", "Settings");
    check(&none, "# One\n\n# Two\n", "two-parts.md", "Two parts");
    check(&none, "# One\n\nTwo\n===\n", "two-parts.md", "Two parts");
    check(&none, "# {{ page.title }}\n", "a-page.md", "A page");
    check(&none, "#tag\n", "note.md", "Note");
}

#[test]
fn a_file_name_is_made_readable() {
    let none = json!({});
    check(&none, "", "docs/getting-started.md", "Getting started");
    check(&none, "", "docs/API_reference.markdown", "API reference");
    check(&none, "", "Shiny new-ish things.md", "Shiny new-ish things");
    check(&none, "", "iPhone.mdx", "iPhone");
    check(&none, "", "user-guide/README.md", "User guide");
    check(&none, "", "user-guide/index.html.md", "User guide");
    check(&none, "", "README.md", "README");
    check(&none, "", "été.md", "Été");
    check(&none, "", "知識.md", "知識");
}

#[test]
fn a_number_sign_of_a_name_is_no_closing_sequence() {
    check(&json!({}), "# Claude API — C#\n", "a.md", "Claude API — C#");
    let parsed = ["# C#", "## Two ##", "# # #", "#", "#no", "    # code", "####### seven", "# a#b ##"];
    let expected = [
        Some((1, "C#")),
        Some((2, "Two")),
        Some((1, "#")),
        Some((1, "")),
        None,
        None,
        None,
        Some((1, "a#b")),
    ];
    assert_eq!(parsed.map(atx_heading), expected);
}
