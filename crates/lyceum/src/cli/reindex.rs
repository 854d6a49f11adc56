//! `lyceum reindex`: rebuilds the search index.

use std::{io::Write, process::ExitCode, time::Duration};

use anyhow::Context;
use lyceum_knowledge::Knowledge;
use lyceum_model::Domain;
use lyceum_search::Status;
use serde_json::{Value, json};

use super::embedding::{missing, until_embedded};
use crate::{
    config::Config,
    finding::counted,
    knowledge,
    search::{self, Index},
    storage::Storage,
};

/// The arguments of `lyceum reindex`.
#[derive(Debug, clap::Args)]
pub(super) struct ReindexArgs {
    /// Print JSON: an array with knowledge, and search with documents, chunks, pending, state, model and reason
    #[arg(long)]
    json: bool,
}

#[tokio::main]
pub(super) async fn reindex(config: &Config, args: &ReindexArgs) -> anyhow::Result<ExitCode> {
    if config.store.is_some() {
        anyhow::bail!(
            "the documents and vectors of the index are in the database of [store], and each node derives its lexical index \
             from them; to rebuild that of a node, stop it, delete the folder `search` in its data folder, and start it"
        );
    }
    let storage = Storage::default();
    let bases = knowledge::all(config, &storage)?;
    if bases.is_empty() {
        anyhow::bail!("there is nothing to index; add a [knowledge] table to lyceum.toml");
    }
    let (mut is_complete, mut all) = (true, Vec::new());
    for (name, knowledge) in &bases {
        if bases.len() > 1 && !args.json {
            writeln!(std::io::stdout(), "{name}:")?;
        }
        let Some(status) = reindex_one(config, name, knowledge).await? else { continue };
        is_complete &= status.reason.is_none() && status.pending == 0;
        if !args.json {
            print(&status)?;
        }
        all.push(json!({ "knowledge": name, "search": status }));
    }
    if args.json {
        writeln!(std::io::stdout(), "{:#}", Value::Array(all))?;
    }
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Rebuilds the index of one knowledge base; returns its status then.
async fn reindex_one(
    config: &Config,
    name: &Domain,
    knowledge: &Knowledge,
) -> anyhow::Result<Option<Status>> {
    let Some(folder) = search::folder(config, name) else { return Ok(None) };
    lyceum_search::discard(&folder).context(
        "could not delete the old index; if a server is running on this data folder, stop it first",
    )?;
    knowledge.sync_once(|_| {}).await.context("the sync failed")?;
    let index = Index::open(search::options(config, &Storage::default(), folder));
    let filled = match index.feed(config, &Storage::default(), name, knowledge).await {
        Ok(()) => until_embedded(&index, Duration::MAX).await,
        Err(error) => Err(error),
    };
    index.close().await;
    filled.map(Some)
}

fn print(status: &Status) -> std::io::Result<()> {
    let Status { documents, chunks, pending, .. } = status;
    let mut out = std::io::stdout().lock();
    let (documents, chunks) =
        (counted(*documents, "document", "documents"), counted(*chunks, "chunk", "chunks"));
    writeln!(out, "{documents}, {chunks}, {pending} of them without embeddings")?;
    match missing(status, "lyceum sync") {
        Some(note) => writeln!(out, "note: {note}"),
        None => Ok(()),
    }
}
