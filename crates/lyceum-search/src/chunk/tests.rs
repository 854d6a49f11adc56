//! Chunking of Markdown and code.

use lyceum_harness::random::Random;

use super::{Chunk, MAX_CHUNK_BYTES, MIN_CHUNK_BYTES, chunks};
use crate::page::Kind;

/// The letters and digits of a text, without separators.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Checks that chunks cover every non-empty line once, in order, with correct line numbers and bounded length.
#[track_caller]
fn check(kind: Kind, body: &str) -> Vec<Chunk> {
    let chunks = chunks(kind, body);
    let lines: Vec<&str> = body.lines().collect();
    let mut last = 0;
    for chunk in &chunks {
        assert!(chunk.text.len() <= MAX_CHUNK_BYTES + MIN_CHUNK_BYTES + 2, "{} bytes", chunk.text.len());
        assert!(chunk.heading.chars().count() <= 8 * 123, "{:?}", chunk.heading);
        // Two chunks share a line only if the line is too long for one.
        let is_shared = last > 0 && chunk.first_line == last && lines[last - 1].len() > MAX_CHUNK_BYTES;
        assert!(chunk.first_line > last || is_shared, "{chunk:?} in {body:?}");
        assert!(chunk.first_line <= chunk.last_line && chunk.last_line <= lines.len(), "{chunk:?}");
        let content = letters(&lines[chunk.first_line - 1..chunk.last_line].join(""));
        assert!(content.contains(&letters(&chunk.text)), "{chunk:?} in {body:?}");
        last = chunk.last_line;
    }
    let content: String = chunks.iter().map(|chunk| letters(&chunk.text)).collect();
    assert!(content == letters(body), "{body:?}");
    chunks
}

#[track_caller]
fn headings(kind: Kind, body: &str, expected: &[&str]) {
    let chunks = check(kind, body);
    let headings: Vec<&str> = chunks.iter().map(|chunk| chunk.heading.as_str()).collect();
    assert_eq!(headings, expected);
}

/// A text of `count` words.
fn words(count: usize) -> String {
    (0..count).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_text_without_words_has_no_chunks() {
    for body in ["", "\n\n", "   \r\n\t", "---\n\n***", "🙂"] {
        assert_eq!(check(Kind::Prose, body), []);
        assert_eq!(check(Kind::Code, body), []);
    }
}

#[test]
fn sections_are_chunks_below_their_headings() {
    let long = words(60);
    let body = format!("# One\n\n{long}\n\n## Two\n\n{long}\n\n### Three\n{long}\n\n## Four ##\n\n{long}\n");
    headings(Kind::Prose, &body, &["One", "One › Two", "One › Two › Three", "One › Four"]);
}

#[test]
fn a_short_section_goes_with_the_next() {
    headings(Kind::Prose, "# One\n\nfew words\n\n## Two\n\nfew more\n", &["One"]);
}

#[test]
fn a_heading_does_not_stand_alone_above_a_long_paragraph() {
    let chunks = check(Kind::Prose, &format!("# One\n\n{}\n", words(400)));
    assert!(chunks[0].text.starts_with("# One\nword0"), "{:?}", chunks[0]);
}

#[test]
fn what_looks_like_a_heading_in_a_fence_is_none() {
    let long = words(60);
    for (open, close) in [("```", "```"), ("~~~sh", "~~~"), ("````md", "````"), ("```", "`````")] {
        let body =
            format!("# One\n\n{long}\n\n{open}\n# not one\n```x y\n~~\n\n{close}\n\n## Two\n\n{long}\n");
        headings(Kind::Prose, &body, &["One", "One › Two"]);
    }
    let inline = format!("# One\n\n{long}\n\n```a fence that is none```\n\n## Two\n\n{long}\n");
    headings(Kind::Prose, &inline, &["One", "One › Two"]);
    let longer = words(100);
    let unclosed = format!("# One\n\n```\n{longer}\n\n## Two\n{longer}\n");
    headings(Kind::Prose, &unclosed, &["One", "One"]);
}

#[test]
fn a_line_of_any_length_is_cut() {
    for line in [
        "x".repeat(100_000),
        "é".repeat(8_000),
        words(3_000),
        "A sentence here. ".repeat(1_000),
        format!("a {}", "🙂x".repeat(3_000)),
        format!("# {}", "name ".repeat(4_000)),
        format!("{}x", " ".repeat(5_000)),
    ] {
        for kind in [Kind::Prose, Kind::Code] {
            let chunks = check(kind, &line);
            assert!(chunks.iter().all(|chunk| (chunk.first_line, chunk.last_line) == (1, 1)));
        }
    }
}

#[test]
fn code_is_cut_where_definitions_begin() {
    let body =
        |count: usize| (0..count).map(|n| format!("        value{n} = compute({n})\n")).collect::<String>();
    let python = format!(
        "import os\n\nclass Store:\n    \"\"\"Keeps things.\"\"\"\n\n    # Opens it.\n    @classmethod\n    def open(cls, path):\n{}\n    def close(self):\n{}\n\ndef main():\n{}",
        body(14),
        body(14),
        body(14)
    );
    let chunks = check(Kind::Code, &python);
    let headings: Vec<&str> = chunks.iter().map(|chunk| chunk.heading.as_str()).collect();
    assert_eq!(headings, ["", "class Store › def close(self)", "def main()"]);
    let body = |count: usize| {
        (0..count).map(|n| format!("        let value{n} = compute({n});\n")).collect::<String>()
    };
    let rust = format!(
        "impl Store {{\n    /// Opens it.\n    #[must_use]\n    pub fn open(path: &Path) -> Self {{\n{}    }}\n\n    /// Closes it.\n    pub(crate) async fn close(self) {{\n{}    }}\n}}\n\nfn free<T>(x: T) {{\n{}}}\n",
        body(14),
        body(14),
        body(14)
    );
    let chunks = check(Kind::Code, &rust);
    let headings: Vec<&str> = chunks.iter().map(|chunk| chunk.heading.as_str()).collect();
    assert_eq!(headings, ["impl Store", "impl Store › pub(crate) async fn close(self)", "fn free<T>(x: T)"]);
    assert!(chunks[1].text.trim_start().starts_with("/// Closes it."), "{:?}", chunks[1]);
    let js = format!(
        "// Loads it.\nexport async function load(url) {{\n{}}}\n\n/* Shows it. */\nexport default class View extends Base {{\n{}}}\n",
        body(14),
        body(14)
    );
    let chunks = check(Kind::Code, &js);
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1].heading, "export default class View extends Base");
    assert!(chunks[1].text.starts_with("/* Shows it. */"), "{:?}", chunks[1]);
}

#[test]
fn no_line_is_lost_whatever_a_text_looks_like() {
    let lines = [
        "# One",
        "## Two ##",
        "###### Six",
        "####### seven",
        "#nospace",
        "#",
        "```",
        "```rust",
        "````",
        "~~~",
        "---",
        "***",
        "title: x",
        "",
        "",
        "",
        "   ",
        "\t",
        "word",
        "- item one",
        "  - item two",
        "> quoted",
        "| a | b |",
        "\tdef f(x):",
        "class A:",
        "    def m(self):",
        "@decorated",
        "// note",
        "/* note */",
        "fn main() {",
        "}",
        "{",
        "🙂",
        "🙂 word",
        "مرحبا بالعالم",
        "e\u{301}a\u{200b}",
        "治理",
        "\u{2028}x",
        "a\rb",
        "\u{feff}bom",
        "type of thing",
        "<!-- x -->",
        "\0nul",
    ];
    for seed in 0..100 {
        let mut random = Random::of(seed + 1);
        let mut body = String::new();
        for _ in 0..random.below(60) {
            match random.below(12) {
                0 => {
                    let count = random.below(300);
                    body.push_str(&words(count));
                }
                1 => body.push_str(&"é.".repeat(random.below(2_000))),
                _ => body.push_str(random.one_of(&lines)),
            }
            body.push_str(random.one_of(&["\n", "\n", "\n", "\r\n", "\n\n"]));
        }
        check(Kind::Prose, &body);
        check(Kind::Code, &body);
    }
}
