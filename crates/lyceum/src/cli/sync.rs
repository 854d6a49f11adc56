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
use lyceum_search::Status;
use lyceum_store::jobs::Failure;
use serde::Serialize;
use tokio::task::block_in_place;

use super::embedding::{missing, until_embedded};
use crate::{
    config::Config,
    finding::counted,
    knowledge,
    search::{self, Index},
    storage::Storage,
};

/// How many files are named for each thing that happened.
const MAX_NAMED_FILES: usize = 20;

/// The arguments of `lyceum sync`.
#[derive(Debug, clap::Args)]
pub(super) struct SyncArgs {
    /// Folders and Git repositories to sync [default: what the configuration names]
    #[arg(value_name = "PATH|GIT-URL")]
    pub(super) locations: Vec<String>,
    /// Don't compute embeddings; a server does it in the background
    #[arg(long)]
    no_embed: bool,
    /// Print JSON: an array with knowledge, report, pendingObjects, uploadFailures and search
    #[arg(long)]
    json: bool,
}

/// The outcome for one knowledge base. Its keys are stable.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Synced {
    knowledge: String,
    report: Report,
    /// Why nothing is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    pending_objects: i64,
    upload_failures: Vec<UploadFailure>,
    /// The search index.
    search: Option<Status>,
}

#[derive(Serialize)]
struct UploadFailure {
    key: String,
    error: String,
}

#[tokio::main]
pub(super) async fn sync(config: &Config, args: &SyncArgs) -> anyhow::Result<ExitCode> {
    let storage = block_in_place(|| Storage::open(config))?;
    let bases = block_in_place(|| knowledge::all(config, &storage))?;
    if bases.is_empty() {
        anyhow::bail!("there is no knowledge base to sync; add a [knowledge] table to lyceum.toml");
    }
    let (mut is_whole, mut all) = (true, Vec::new());
    for (name, knowledge) in &bases {
        if bases.len() > 1 && !args.json {
            writeln!(io::stdout(), "{name}:")?;
        }
        let synced = sync_one(config, &storage, args, name, knowledge).await?;
        is_whole &= synced.pending_objects == 0 && synced.report.failed.count == 0;
        if !args.json {
            print(&mut io::stdout().lock(), args, &synced)?;
        }
        all.push(synced);
    }
    if args.json {
        writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(&all)?)?;
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Syncs one knowledge base, and updates its search index.
async fn sync_one(
    config: &Config,
    storage: &Storage,
    args: &SyncArgs,
    name: &Domain,
    knowledge: &Knowledge,
) -> anyhow::Result<Synced> {
    let bar = bar();
    let snapshot = bar.clone();
    let synced = knowledge.sync_once(move |progress| show(&snapshot, progress)).await;
    bar.finish_and_clear();
    let report = synced.context("the sync failed")?;
    let search = index(config, storage, args, name, knowledge).await;
    let search = search.context("synced, but the search index could not be updated")?;
    let (pending_objects, failures) = knowledge.pending_objects().await?;
    let of_failure =
        |failure: &Failure| UploadFailure { key: failure.key.clone(), error: failure.error.clone() };
    let upload_failures = failures.iter().map(of_failure).collect();
    let warning = knowledge.snapshot().nothing_published();
    Ok(Synced { knowledge: name.to_string(), report, warning, pending_objects, upload_failures, search })
}

/// Updates the index, and computes missing embeddings.
async fn index(
    config: &Config,
    storage: &Storage,
    args: &SyncArgs,
    name: &Domain,
    knowledge: &Knowledge,
) -> anyhow::Result<Option<Status>> {
    let Some(folder) = search::folder(config, name) else { return Ok(None) };
    let mut options = search::options(config, storage, folder);
    if args.no_embed {
        options.embedder = None;
    }
    let index = Index::open(options);
    let filled = match index.feed(config, storage, name, knowledge).await {
        Ok(()) => until_embedded(&index, Duration::MAX).await,
        Err(error) => Err(error),
    };
    index.close().await;
    filled.map(Some)
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
        // A bar over nothing says nothing.
        Progress::Reading { of: 0, .. } | Progress::Staging { of: 0, .. } => return,
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

/// The outcome, for a person.
fn print(out: &mut impl Write, args: &SyncArgs, synced: &Synced) -> io::Result<()> {
    print_report(out, &synced.report)?;
    if let Some(warning) = &synced.warning {
        writeln!(out, "warning: {warning}")?;
    }
    for UploadFailure { key, error } in &synced.upload_failures {
        writeln!(out, "  not uploaded  {key}: {error}")?;
    }
    let pending = synced.pending_objects;
    if pending > 0 {
        let (objects, are) = (counted(pending, "object", "objects"), if pending == 1 { "is" } else { "are" });
        writeln!(out, "{objects} {are} not uploaded yet; run lyceum sync again, or start the server")?;
    }
    let note = synced.search.as_ref().filter(|_| !args.no_embed);
    if let Some(note) = note.and_then(|status| missing(status, "lyceum sync")) {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

fn print_report(out: &mut impl Write, report: &Report) -> io::Result<()> {
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
        "{}: {} published, {}, {} unpublished, {} skipped, {} failed",
        counted(files.total(), "file", "files"),
        files.published,
        counted(files.drafts, "draft", "drafts"),
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
