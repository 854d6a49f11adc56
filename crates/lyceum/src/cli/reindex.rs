//! `lyceum reindex`: rebuilds the search index.

use std::{
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use lyceum_knowledge::Knowledge;
use lyceum_model::Domain;
use lyceum_search::{State, Status};

use crate::{
    config::Config,
    knowledge,
    search::{self, Index},
};

/// How long embedding may make no progress before it is given up.
const STALL_TIMEOUT: Duration = Duration::from_secs(300);

/// How often the progress bar is updated.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[tokio::main]
pub(super) async fn reindex(config: &Config) -> anyhow::Result<ExitCode> {
    let bases = knowledge::all(config)?;
    if bases.is_empty() {
        anyhow::bail!("there is nothing to index; add a [knowledge] table to lyceum.toml");
    }
    let mut is_complete = true;
    for (name, knowledge) in &bases {
        if bases.len() > 1 {
            writeln!(std::io::stdout(), "{name}:")?;
        }
        is_complete &= reindex_one(config, name, knowledge).await?;
    }
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Rebuilds the index of one knowledge base; returns whether it is complete.
async fn reindex_one(config: &Config, name: &Domain, knowledge: &Knowledge) -> anyhow::Result<bool> {
    let Some(folder) = search::folder(config, name) else { return Ok(true) };
    lyceum_search::discard(&folder).context(
        "could not delete the old index; if a server is running on this data folder, stop it first",
    )?;
    knowledge.sync_once(|_| {}).await.context("the sync failed")?;
    let index = Index::open(search::options(config, folder));
    let filled = match index.feed(config, name, knowledge).await {
        Ok(()) => fill(&index).await,
        Err(error) => Err(error),
    };
    index.close().await;
    let Status { documents, chunks, pending, reason, detail, .. } = filled?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{documents} documents, {chunks} chunks, {pending} of them without embeddings")?;
    let reason = detail.or(reason);
    if let Some(reason) = &reason {
        writeln!(out, "note: {reason}")?;
    }
    Ok(reason.is_none())
}

/// Waits until the index is filled, with a progress bar; returns the final status.
async fn fill(index: &Index) -> anyhow::Result<Status> {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("embedding {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    let mut last = (Instant::now(), i64::MAX);
    let status = loop {
        let status = index.search.status().await?;
        if status.pending != last.1 {
            last = (Instant::now(), status.pending);
        }
        bar.set_length(u64::try_from(status.chunks).unwrap_or_default());
        bar.set_position(u64::try_from(status.chunks - status.pending).unwrap_or_default());
        match status.state {
            State::Ready | State::Degraded => break status,
            _ if last.0.elapsed() > STALL_TIMEOUT => break status,
            State::Opening | State::Preparing | State::Indexing | State::Embedding => {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    };
    bar.finish_and_clear();
    Ok(status)
}
