//! Realistic queries: page titles, and the queries of a test set.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::workspace::Workspace;

/// Number of queries of the single client.
const SEQUENTIAL_QUERIES: usize = 500;

/// Distinct queries.
pub(super) struct Questions {
    /// In random order.
    all: Vec<String>,
}

impl Questions {
    /// Reads the titles of mdn and the queries of cranfield.
    pub(super) fn read(workspace: &Workspace) -> Result<Self> {
        let titles =
            workspace.git_in(&workspace.mdn()?, &["grep", "-h", "-I", "^title:", "HEAD", "--", "*.md"])?;
        let titles = titles.lines().filter_map(title);
        let queries = queries(workspace)?;
        let mut all: Vec<String> = titles.chain(queries).collect();
        all.sort_unstable();
        all.dedup();
        ensure!(all.len() > SEQUENTIAL_QUERIES, "there are only {} queries", all.len());
        shuffle(&mut all);
        Ok(Self { all })
    }

    /// The queries of the single client.
    pub(super) fn for_one_client(&self) -> impl Iterator<Item = &str> {
        self.all.iter().take(SEQUENTIAL_QUERIES).map(String::as_str)
    }

    /// All other queries, which are not cached yet.
    pub(super) fn remaining(&self) -> impl Iterator<Item = &str> {
        self.all.iter().skip(SEQUENTIAL_QUERIES).map(String::as_str)
    }
}

/// Odd and malicious queries.
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

/// Request path for a query.
pub(super) fn path(query: &str, mode: &str) -> String {
    format!("/api/v1/search?mode={mode}&q={}", percent_encode(query))
}

/// Percent-encodes a query parameter.
pub(super) fn percent_encode(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// The title in a line of frontmatter.
pub(super) fn title(line: &str) -> Option<String> {
    let title = line.strip_prefix("title:")?.trim().trim_matches(['"', '\'']);
    // Skip titles without letters.
    title.chars().any(char::is_alphabetic).then(|| title.to_owned())
}

fn queries(workspace: &Workspace) -> Result<Vec<String>> {
    let file = workspace.set("cranfield").join("queries.jsonl");
    let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
    let query = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(value.get("text")?.as_str()?.to_owned())
    };
    Ok(text.lines().filter_map(query).collect())
}

/// Shuffles deterministically.
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
