//! Short forms of a text.

use crate::knowledge::{Dialect, excerpt, plain_text, truncate};

#[track_caller]
fn check(body: &str, short: &str) {
    assert_eq!(excerpt(&plain_text(body, Dialect::Markdown)), short, "{body:?}");
}

#[test]
fn the_first_paragraph_is_the_excerpt() {
    check(
        "# Cells\n\nA cell is a [small team](team.md) that\n*decides* for [[groups/x|itself]].\n\nMore.",
        "A cell is a small team that decides for itself.",
    );
    check("\n---\n\n![a picture](x.png)\n| a | b |\n\n> Quoted words", "Quoted words");
    check("```\ncode\n```\n- first\n- second\n", "first second");
    check("_A cell_ is [not closed", "_A cell_ is [not closed");
    check("[[cells]] and `code` é", "cells and code é");
    check("#journal #work/2026\n\nThe #team met, see #12.", "The team met, see #12.");
    check("> [!note] Mind this\n> ![[photo.png]] Then [[Plan#Next|go on]].", "Mind this Then go on.");
    check("", "");
}

#[test]
fn a_long_paragraph_is_cut_at_a_word() {
    let text = excerpt(&"word ".repeat(1000));
    assert!(text.ends_with("word...") && text.chars().count() <= 403, "{text}");
}

#[test]
fn a_text_is_cut_at_a_word_and_marked() {
    assert_eq!(truncate("one two three", 9), "one two...");
    assert_eq!(truncate("one two", 7), "one two");
    assert_eq!(truncate("éééé", 2), "éé...");
}
