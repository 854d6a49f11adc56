//! `lyceum embed`: embeds texts and prints the throughput, to benchmark the model alone.

use std::{
    io::{self, BufRead, Write},
    process::ExitCode,
    time::Instant,
};

use anyhow::{Context, bail};
use lyceum_models::embedder::{Purpose, checked};
use serde_json::json;

use crate::{config::Config, search, storage::Storage};

/// Batch size, the same as for indexing.
const BATCH_TEXTS: usize = 32;

/// Maximum number of texts, and length of a line.
const MAX_TEXTS: usize = 1_000_000;
const MAX_LINE_BYTES: usize = 1024 * 1024;

#[tokio::main]
pub(super) async fn embed(config: &Config) -> anyhow::Result<ExitCode> {
    let texts = texts(&mut io::stdin().lock())?;
    let options = search::options(config, &Storage::default(), config.data_dir.clone());
    let Some(settings) = options.embedder else {
        bail!(
            "no embedding model is configured; remove kind = \"none\" from [search.embedder] in lyceum.toml"
        );
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

/// Parses one JSON string per line.
fn texts(lines: &mut impl BufRead) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.with_context(|| format!("cannot read line {number}"))?;
        if line.len() > MAX_LINE_BYTES || number > MAX_TEXTS {
            bail!("line {number}: the maximum is {MAX_TEXTS} lines of {MAX_LINE_BYTES} bytes");
        }
        let text = serde_json::from_str(&line);
        texts.push(text.with_context(|| format!("line {number} is not a JSON string such as \"text\""))?);
    }
    if texts.is_empty() {
        bail!("no input; write JSON strings to standard input, one per line");
    }
    Ok(texts)
}

/// Peak resident memory of this process, if the system reports it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
