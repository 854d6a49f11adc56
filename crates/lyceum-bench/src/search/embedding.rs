//! Embedding alone: `lyceum embed` and Python's onnxruntime on the same texts, with the same threads, interleaved.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use super::SETS;
use super::peers::Python;
use super::program::Program;
use super::workspace::Workspace;

/// Texts per test set.
const TEXTS_PER_SET: usize = 200;

/// Measurements of each program.
const ROUNDS: usize = 3;

/// Timeout of one measurement.
pub(super) const ROUND_TIMEOUT: Duration = Duration::from_secs(600);

/// Result of one round.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Speed {
    pub(super) per_second: f64,
    pub(super) peak_rss_kib: u64,
}

/// Results.
pub(super) struct Embedding {
    pub(super) texts: usize,
    pub(super) lyceum: Vec<Speed>,
    pub(super) python: Vec<Speed>,
}

/// Measures both programs, interleaved.
pub(super) fn measure(program: &Program, workspace: &Workspace) -> Result<Embedding> {
    let (file, texts) = texts(workspace)?;
    let python = Python::install(workspace)?;
    let mut results = Embedding { texts, lyceum: Vec::new(), python: Vec::new() };
    for round in 1..=ROUNDS {
        let ours: Speed = serde_json::from_value(program.embed(&file, ROUND_TIMEOUT)?)?;
        let theirs = python.embed(&file)?;
        println!(
            "round {round}: lyceum {:.1} texts/s in {} KiB, Python {:.1} in {}",
            ours.per_second, ours.peak_rss_kib, theirs.per_second, theirs.peak_rss_kib
        );
        results.lyceum.push(ours);
        results.python.push(theirs);
    }
    Ok(results)
}

/// Writes the texts to a file, one JSON string per line.
fn texts(workspace: &Workspace) -> Result<(PathBuf, usize)> {
    let file = workspace.cached("texts.jsonl");
    let mut out = fs::File::create(&file).with_context(|| format!("could not write {}", file.display()))?;
    let mut count = 0;
    for set in SETS {
        for text in documents(&workspace.set(set))?.into_iter().take(TEXTS_PER_SET) {
            writeln!(out, "{}", Value::from(text))?;
            count += 1;
        }
    }
    Ok((file, count))
}

/// The documents of a test set, with titles.
fn documents(set: &Path) -> Result<Vec<String>> {
    let file = set.join("corpus.jsonl");
    let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
    let document = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        Some(format!("{}\n{}", field("title"), field("text")).trim().to_owned())
    };
    Ok(text.lines().filter_map(document).collect())
}
