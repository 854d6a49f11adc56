//! Real questions: the titles of pages, and the queries of a test set.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::workspace::Workspace;

/// How many one client asks.
const SEQUENTIAL_QUERIES: usize = 500;

/// Paths of requests, each another question.
pub(super) struct Questions {
    /// In an order that has nothing to do with where they are from.
    all: Vec<String>,
}

impl Questions {
    /// Reads the titles of all of mdn and the queries of cranfield.
    pub(super) fn read(place: &Workspace) -> Result<Self> {
        let titles = place.git_in(&place.mdn()?, &["grep", "-h", "-I", "^title:", "HEAD", "--", "*.md"])?;
        let titles = titles.lines().filter_map(title);
        let queries = queries(place)?;
        let mut all: Vec<String> = titles.chain(queries).collect();
        all.sort_unstable();
        all.dedup();
        ensure!(all.len() > SEQUENTIAL_QUERIES, "there are only {} questions", all.len());
        shuffle(&mut all);
        Ok(Self { all })
    }

    /// What one client asks, one after the other.
    pub(super) fn some(&self) -> impl Iterator<Item = &str> {
        self.all.iter().take(SEQUENTIAL_QUERIES).map(String::as_str)
    }

    /// All but those: nobody has asked them before.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        self.all.iter().skip(SEQUENTIAL_QUERIES).map(String::as_str)
    }
}

/// What nobody means to ask, and some do.
pub(super) fn odd() -> Vec<String> {
    let mut all: Vec<String> = [
        "",
        "   ",
        "the of and to is",
        "🙂🙃🦀",
        "مرحبا بالعالم كيف حالك",
        "word\u{202e}drow",
        "'; DROP TABLE pages; --",
        "title:(grid AND \"flex box\"~2) OR * NOT -css^3",
        "\"\"\"\"((((\\\\",
        "(a+)+$ (.*)*.*.*.*x [a-z]{1,99999}",
        "\0\u{1}\u{7f}",
        "治理治理治理",
    ]
    .map(str::to_owned)
    .into();
    all.push("(x+x+)+y ".repeat(220));
    all.push("gird layuot flexbx ".repeat(100));
    all.push("\"css grid\" ".repeat(180));
    all.push("word ".repeat(20_000));
    all
}

/// The path of a request for a question.
pub(super) fn path(question: &str, mode: &str) -> String {
    format!("/api/v1/search?mode={mode}&q={}", encoded(question))
}

/// A text as it can stand in a query.
pub(super) fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// The title in a line of frontmatter.
pub(super) fn title(line: &str) -> Option<String> {
    let title = line.strip_prefix("title:")?.trim().trim_matches(['"', '\'']);
    // Questions in angle brackets are about tags, and have no words.
    title.chars().any(char::is_alphabetic).then(|| title.to_owned())
}

fn queries(place: &Workspace) -> Result<Vec<String>> {
    let file = place.set("cranfield").join("queries.jsonl");
    let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
    let query = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(value.get("text")?.as_str()?.to_owned())
    };
    Ok(text.lines().filter_map(query).collect())
}

/// The same order in each run.
fn shuffle(all: &mut [String]) {
    let mut state: u64 = 0x6c79_6365_756d;
    for last in (1..all.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from(state >> 33).unwrap_or_default() % (last + 1);
        all.swap(last, other);
    }
}

#[cfg(test)]
mod tests;
