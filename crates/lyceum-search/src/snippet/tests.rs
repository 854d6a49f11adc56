//! Snippets.

use lyceum_harness::random::Random;

use super::{MAX_SNIPPET_BYTES, snippet};
use crate::{lexical::ParsedQuery, page::Kind};

fn shown(text: &str, question: &str) -> String {
    snippet(Kind::Prose, text, &ParsedQuery::of(question))
}

#[track_caller]
fn check(text: &str, question: &str, expected: &str) {
    assert_eq!(shown(text, question), expected);
}

#[test]
fn words_of_the_question_are_marked_in_every_form() {
    check("Cells are governed.", "governing a cell", "**Cells** are **governed**.");
    check("call parse_json here", "json", "call parse_**json** here");
    check("call parse_json here", "parse_json", "call **parse_json** here");
    check("The end.", "the needle", "The end.");
    check("The end.", "the", "**The** end.");
    check("governance of cells", "govern*", "**governance** of cells");
}

#[test]
fn only_words_of_the_question_are_marked_in_prose_and_code_stays_as_it_is() {
    check(
        "**Decided**, by **consent** of all: **Done:**",
        "consent",
        "Decided, by **consent** of all: Done:",
    );
    let code = "def power(x, **more): return x ** 2";
    let marked = "def **power**(x, **more): return x ** 2";
    assert_eq!(snippet(Kind::Code, code, &ParsedQuery::of("power")), marked);
}

#[test]
fn a_snippet_is_one_line() {
    check("one\n\n  two\tthree\r\n", "two", "one **two** three");
    check("", "two", "");
}

#[test]
fn a_long_text_is_shown_where_the_words_are() {
    let text = format!("{}The needle lies here. {}", "Some hay. ".repeat(60), "More hay. ".repeat(60));
    let shown = shown(&text, "needle");
    assert!(shown.contains("The **needle** lies here."), "{shown}");
    assert!(shown.starts_with("… ") && shown.ends_with(" …"), "{shown}");
}

#[test]
fn a_word_is_shown_after_one_that_never_ends() {
    let text = format!("a {} target {}", "x".repeat(500), "y".repeat(500));
    assert!(shown(&text, "target").contains("**target**"));
}

#[test]
fn a_word_longer_than_what_is_shown_does_no_harm() {
    let text = format!("alpha{}beta then alpha {} alpha", "_".repeat(400), "hay ".repeat(200));
    assert!(shown(&text, "alphabeta alpha").contains("**alpha**"));
}

#[test]
fn the_place_with_most_words_is_shown() {
    let hay = "Nothing to see in this long line of words. ".repeat(12);
    let text = format!("alpha alpha alpha {hay} alpha beta {hay}");
    assert!(shown(&text, "alpha beta").contains("**alpha** **beta**"));
}

#[test]
fn any_text_gives_a_snippet_of_its_own_words() {
    let pieces = [
        "word",
        "needle",
        "Needles",
        "🙂",
        "👩‍👩‍👧",
        "é",
        "e\u{301}",
        "ß",
        "İ",
        "治理",
        "مرحبا",
        "\u{2028}",
        "\u{3000}",
        "\n",
        "\r\n",
        "\t",
        " ",
        ". ",
        "**",
        "…",
        "_",
        "camelCaseNeedle",
        "snake_needle",
        "\u{fffd}",
        "\u{200b}",
        "x0",
        "\u{10ffff}",
    ];
    for seed in 0..300 {
        let mut random = Random::of(seed);
        let mut text = String::new();
        for _ in 0..random.below(400) {
            text.push_str(random.one_of(&pieces));
            if random.below(3) == 0 {
                text.push(' ');
            }
        }
        if random.below(4) == 0 {
            text.insert_str(0, &"ü".repeat(random.below(700)));
        }
        for question in ["needle", "camel case", "治 İ", "é 🙂", "nee*", ""] {
            let shown = shown(&text, question);
            // Plus two ellipses.
            let plain = shown.replace("**", "");
            assert!(plain.len() <= MAX_SNIPPET_BYTES + 8, "{} bytes of {text:?}", plain.len());
        }
    }
}
