//! A source: a folder, a Git repository, or bundled files.

use std::path::PathBuf;

use crate::{Bundled, Error, Folder, Repository, Snapshot};

/// A source of files. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Source {
    /// A local folder.
    Folder(Folder),
    /// A branch of a Git repository.
    Repository(Repository),
    /// Files compiled into the program.
    Bundled(Bundled),
}

/// Kind of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A local folder.
    Folder,
    /// A branch of a Git repository.
    Repository,
    /// Files compiled into the program.
    Bundled,
}

impl Source {
    /// The kind of source.
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

    /// Syncs the source. Dropping the future kills running processes.
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

    /// Syncs the source from scratch, for when the local clone turns out to be corrupt.
    pub async fn renew(&self) -> Result<Snapshot, Error> {
        match self {
            Self::Folder(_) | Self::Bundled(_) => self.refresh().await,
            Self::Repository(repository) => repository.renew().await,
        }
    }
}

impl Source {
    /// Syncs the source incrementally, after a [`Watch`](crate::Watch) reported which paths changed since a snapshot.
    pub async fn refresh_paths(&self, before: Snapshot, paths: Vec<PathBuf>) -> Result<Snapshot, Error> {
        match self {
            Self::Folder(folder) => {
                let folder = folder.clone();
                blocking("read the folder", move || folder.snapshot_after(&before, &paths)).await
            }
            Self::Repository(repository) => repository.refresh().await,
            Self::Bundled(bundled) => Ok(bundled.snapshot()),
        }
    }
}

/// Runs blocking work on the blocking thread pool.
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
