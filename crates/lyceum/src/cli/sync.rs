//! `lyceum sync`: syncs every knowledge base and reports what changed.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use lyceum_knowledge::{CappedList, FileReason, Knowledge, Progress, Report};
use lyceum_model::Domain;
use lyceum_search::Options;

use crate::{
    config::Config,
    knowledge,
    search::{self, Index},
};

/// How many files are named for each thing that happened.
const MAX_NAMED_FILES: usize = 20;

#[tokio::main]
pub(super) async fn sync(config: &Config) -> anyhow::Result<ExitCode> {
    let bases = knowledge::all(config)?;
    if bases.is_empty() {
        anyhow::bail!("there is no knowledge base to sync; add a [knowledge] table to lyceum.toml");
    }
    let mut is_whole = true;
    for (name, knowledge) in &bases {
        if bases.len() > 1 {
            writeln!(io::stdout(), "{name}:")?;
        }
        is_whole &= sync_one(config, name, knowledge).await?;
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Syncs one knowledge base; says whether all of it is where it belongs.
async fn sync_one(config: &Config, name: &Domain, knowledge: &Knowledge) -> anyhow::Result<bool> {
    let bar = bar();
    let snapshot = bar.clone();
    let synced = knowledge.sync_once(move |progress| show(&snapshot, progress)).await;
    bar.finish_and_clear();
    let report = synced.context("the sync failed")?;
    index(config, name, knowledge).await.context("synced, but the search index could not be updated")?;
    let (pending_objects, failures) = knowledge.pending_objects().await?;
    let mut out = io::stdout().lock();
    print(&mut out, &report)?;
    if let Some(warning) = knowledge.snapshot().nothing_published() {
        writeln!(out, "warning: {warning}")?;
    }
    for failure in &failures {
        writeln!(out, "  not uploaded  {}: {}", failure.key, failure.error)?;
    }
    if pending_objects > 0 {
        writeln!(
            out,
            "{pending_objects} objects are not uploaded yet; run lyceum sync again, or start the server"
        )?;
    }
    Ok(pending_objects == 0 && report.failed.count == 0)
}

/// Updates the lexical index. Embeddings are left to the server or to `lyceum eval`.
async fn index(config: &Config, name: &Domain, knowledge: &Knowledge) -> anyhow::Result<()> {
    let Some(folder) = search::folder(config, name) else { return Ok(()) };
    let index = Index::open(Options { embedder: None, ..search::options(config, folder) });
    let fed = index.feed(config, name, knowledge).await;
    index.close().await;
    fed
}

/// A bar on a terminal; elsewhere nothing, for the report says it all.
fn bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn show(bar: &ProgressBar, progress: Progress) {
    let (word, done, of) = match progress {
        Progress::Fetching => return bar.set_message("fetching"),
        Progress::Reading { done, of } => ("reading", done, of),
        Progress::Staging { done, of } => ("storing", done, of),
        Progress::Uploading { left } => {
            bar.set_style(ProgressStyle::default_spinner());
            return bar.set_message(format!("uploading, {left} objects left"));
        }
    };
    if let Ok(style) = ProgressStyle::with_template("{msg:>8} {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    bar.set_length(u64::try_from(of).unwrap_or_default());
    bar.set_position(u64::try_from(done).unwrap_or_default());
    bar.set_message(word);
}

/// The report, for a person.
fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report {
        source, commit, added, changed, removed, skipped, failed, hashed_ids, files, took_ms, ..
    } = report;
    writeln!(out, "{source} at {commit}, in {took_ms} ms")?;
    for (word, named) in [("added", added), ("changed", changed), ("removed", removed)] {
        each(out, word, named, |out, path| writeln!(out, "  {word}  {path}"))?;
    }
    for (word, named) in [("hashed id", hashed_ids), ("skipped", skipped), ("failed", failed)] {
        each(out, word, named, |out, FileReason { path, reason }| {
            writeln!(out, "  {word}  {path}: {reason}")
        })?;
    }
    writeln!(
        out,
        "{} files: {} published, {} drafts, {} unpublished, {} skipped, {} failed",
        files.total(),
        files.published,
        files.drafts,
        files.unpublished,
        files.skipped,
        files.failed
    )
}

fn each<T>(
    out: &mut impl Write,
    word: &str,
    named: &CappedList<T>,
    mut line: impl FnMut(&mut dyn Write, &T) -> io::Result<()>,
) -> io::Result<()> {
    if named.count == 0 {
        return Ok(());
    }
    writeln!(out, "{word}: {}", named.count)?;
    for one in named.first.iter().take(MAX_NAMED_FILES) {
        line(out, one)?;
    }
    if let more @ 1.. = named.count.saturating_sub(MAX_NAMED_FILES) {
        writeln!(out, "  … and {more} more")?;
    }
    Ok(())
}
