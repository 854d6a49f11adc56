//! A source: a folder, a Git repository, or files that are part of the program.

use std::path::PathBuf;

use crate::{Bundled, Error, Folder, Repository, Snapshot};

/// Where knowledge comes from. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Source {
    /// A folder of this machine.
    Folder(Folder),
    /// A branch of a Git repository.
    Repository(Repository),
    /// Files that are part of the program.
    Bundled(Bundled),
}

/// Which kind of source it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A folder of this machine.
    Folder,
    /// A branch of a Git repository.
    Repository,
    /// Files that are part of the program.
    Bundled,
}

impl Source {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Folder(_) => Kind::Folder,
            Self::Repository(_) => Kind::Repository,
            Self::Bundled(_) => Kind::Bundled,
        }
    }

    /// The local snapshot, without network access: the folder, or the last fetched commit.
    /// Blocks.
    pub fn local(&self) -> Result<Option<Snapshot>, Error> {
        match self {
            Self::Folder(folder) => folder.snapshot().map(Some),
            Self::Repository(repository) => repository.local(),
            Self::Bundled(bundled) => Ok(Some(bundled.snapshot())),
        }
    }

    /// Brings the source up to date. Dropping the future ends what was started.
    pub async fn refresh(&self) -> Result<Snapshot, Error> {
        match self {
            Self::Folder(folder) => {
                let folder = folder.clone();
                blocking("read the folder", move || folder.snapshot()).await
            }
            Self::Repository(repository) => repository.refresh().await,
            Self::Bundled(bundled) => Ok(bundled.snapshot()),
        }
    }

    /// Brings the source in anew, where what is here of it turned out to be damaged.
    pub async fn renew(&self) -> Result<Snapshot, Error> {
        match self {
            Self::Folder(_) | Self::Bundled(_) => self.refresh().await,
            Self::Repository(repository) => repository.renew().await,
        }
    }
}

impl Source {
    /// Brings the source up to date after a watch told where something changed since that snapshot.
    pub async fn refresh_places(&self, before: Snapshot, places: Vec<PathBuf>) -> Result<Snapshot, Error> {
        match self {
            Self::Folder(folder) => {
                let folder = folder.clone();
                blocking("read the folder", move || folder.snapshot_after(&before, &places)).await
            }
            Self::Repository(repository) => repository.refresh().await,
            Self::Bundled(bundled) => Ok(bundled.snapshot()),
        }
    }
}

/// Runs work that blocks where it holds up nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(result) => result,
        Err(stopped) => Err(Error::Io { doing, source: std::io::Error::other(stopped) }),
    }
}
