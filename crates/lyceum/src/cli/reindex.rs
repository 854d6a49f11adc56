//! `lyceum reindex`: makes the search index anew from what was brought in.

use std::{io::Write, process::ExitCode, time::Duration};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use lyceum_search::{State, Status};
use tokio_util::sync::CancellationToken;

use crate::{config::Config, knowledge, search};

/// How often the bar moves.
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[tokio::main]
pub(super) async fn reindex(config: &Config) -> anyhow::Result<ExitCode> {
    let Some(knowledge) = knowledge::service(config)? else {
        anyhow::bail!("there is nothing to index: write [knowledge] in lyceum.toml");
    };
    let folder = config.data_dir.join("search");
    lyceum_search::discard(&folder)
        .context("the old index can't be taken away; is a server using it? stop it first")?;
    let Some(search) = search::service(config) else { anyhow::bail!("there is nothing to index") };
    let stop = CancellationToken::new();
    let opened = tokio::spawn(search.clone().keep_open(stop.clone()));
    let filled = tokio::spawn(search.clone().keep_filled(stop.clone()));
    knowledge.sync_once(|_| {}).await.context("the knowledge base could not be brought in")?;
    knowledge.search_shown(&search, &knowledge.shown()).await?;
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("embedding {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    let status = loop {
        let status = search.status().await?;
        bar.set_length(u64::try_from(status.chunks).unwrap_or_default());
        bar.set_position(u64::try_from(status.chunks - status.pending).unwrap_or_default());
        match status.state {
            State::Ready | State::Degraded => break status,
            State::Opening | State::Preparing | State::Embedding => tokio::time::sleep(LOOK_EVERY).await,
        }
    };
    bar.finish_and_clear();
    stop.cancel();
    let _ended = tokio::join!(opened, filled);
    let Status { documents, chunks, pending, reason, .. } = status;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{documents} documents, {chunks} passages, {pending} of them found by their words only")?;
    if let Some(reason) = reason {
        writeln!(out, "note: {reason}")?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
