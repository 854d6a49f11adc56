//! `lyceum embed`: turns texts into vectors and says how long it took. For measuring the model alone.

use std::{
    io::{self, BufRead, Write},
    process::ExitCode,
    time::Instant,
};

use anyhow::{Context, bail};
use lyceum_models::embedder::{Purpose, checked};
use serde_json::json;

use crate::{config::Config, search};

/// How many texts are given to the model together, as when an index is filled.
const BATCH_TEXTS: usize = 32;

/// How many texts are taken, and how long a line may be.
const MAX_TEXTS: usize = 1_000_000;
const MAX_LINE_BYTES: usize = 1024 * 1024;

#[tokio::main]
pub(super) async fn embed(config: &Config) -> anyhow::Result<ExitCode> {
    let texts = texts(&mut io::stdin().lock())?;
    let options = search::options(config, config.data_dir.clone());
    let Some(settings) = options.embedder else {
        bail!("no model is configured; take kind = \"none\" out of [search.embedder] in lyceum.toml");
    };
    let began = Instant::now();
    let embedder = (options.connect)(settings).await?;
    let load = began.elapsed();
    let identity = embedder.identity();
    let began = Instant::now();
    for batch in texts.chunks(BATCH_TEXTS) {
        let vectors = embedder.embed(Purpose::Passage, batch).await?;
        checked(identity, batch.len(), vectors)?;
    }
    let took = began.elapsed();
    let line = json!({
        "count": texts.len(),
        "seconds": took.as_secs_f64(),
        "perSecond": texts.len() as f64 / took.as_secs_f64().max(f64::EPSILON),
        "loadSeconds": load.as_secs_f64(),
        "peakRssKib": peak_kib(),
        "model": identity.name,
        "sha256": identity.sha256,
        "dimensions": identity.dimensions,
    });
    writeln!(io::stdout().lock(), "{line}")?;
    Ok(ExitCode::SUCCESS)
}

/// A text from each line, which is a JSON string.
fn texts(lines: &mut impl BufRead) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.with_context(|| format!("line {number} can't be read"))?;
        if line.len() > MAX_LINE_BYTES || number > MAX_TEXTS {
            bail!("line {number}: at most {MAX_TEXTS} lines of {MAX_LINE_BYTES} bytes are taken");
        }
        let text = serde_json::from_str(&line);
        texts.push(text.with_context(|| format!("line {number} is not a JSON string such as \"text\""))?);
    }
    if texts.is_empty() {
        bail!("there is no text; give JSON strings on standard input, one on each line");
    }
    Ok(texts)
}

/// The most memory this process has held, where the system says so.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
