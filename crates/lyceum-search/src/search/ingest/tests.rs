//! The text that is embedded for a chunk.

use super::passage;
use crate::{Facts, Kind, tests::page};

#[track_caller]
fn check(kind: Kind, heading: &str, text: &str, expected: &str) {
    let facts = Facts { kind, ..page("id", "Cells", "").facts };
    assert_eq!(passage(&facts, heading, text), expected);
}

#[test]
fn a_chunk_comes_with_what_it_belongs_to() {
    check(Kind::Prose, "", "some words", "Cells\nsome words");
    check(Kind::Prose, "Cells", "some words", "Cells\nsome words");
    check(Kind::Prose, "Cells › Votes", "some words", "Cells › Votes\nsome words");
    check(Kind::Prose, "Votes", "some words", "Cells › Votes\nsome words");
}

#[test]
fn links_are_given_by_their_words() {
    for (text, expected) in [
        ("see [the votes](../votes.md), then", "see [the votes], then"),
        ("[a](/a) and [b](#b)", "[a] and [b]"),
        ("![a cell](img/cell.png \"how it looks\")", "![a cell]"),
        ("[it](https://example.org/a_(b)_c) is", "[it] is"),
        ("run `steps[i](event)` next", "run `steps[i](event)` next"),
        ("a](b", "a](b"),
        ("[é](é/é)é", "[é]é"),
        ("[open](/never\nclosed)", "[open](/never\nclosed)"),
        ("](", "]("),
    ] {
        check(Kind::Prose, "", text, &format!("Cells\n{expected}"));
        check(Kind::Code, "", text, &format!("Cells\n{text}"));
    }
}
