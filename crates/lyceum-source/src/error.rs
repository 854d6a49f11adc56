//! Errors of sources.
//!
//! Messages are for the source's maintainer: they say what to do and contain no secrets and no server paths.

use std::{io, time::Duration};

use lyceum_model::ErrorCode;

use crate::git::{Fault, GitMessage};

/// Why a source could not be read or synced.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL or the branch is invalid.
    #[error("{0}")]
    Settings(String),
    /// The folder does not exist.
    #[error("no such folder; check its path")]
    NoFolder(#[source] io::Error),
    /// The folder exists, but this process may not read it.
    #[error("permission denied; let the user of this process read the folder")]
    FolderDenied(#[source] io::Error),
    /// The source has too many files.
    #[error("the source has more than {limit} files or folders; choose a folder further down, or split it")]
    TooManyFiles {
        /// Maximum number of files.
        limit: usize,
    },
    /// The `git` program could not be started.
    #[error("could not start git; install it, and check that it is in PATH")]
    NoGit(#[source] io::Error),
    /// `git` failed.
    #[error("{}", fault.advice(branch))]
    Git {
        /// The kind of failure.
        fault: Fault,
        /// The requested branch.
        branch: String,
        /// Git's output, without secrets.
        #[source]
        message: GitMessage,
    },
    /// The GitHub App has no token for the installation.
    #[error(
        "cannot get a token of the GitHub App: {0}; check app_id, installation_id and the key, and that the app is installed"
    )]
    App(#[source] crate::github::Error),
    /// `git` timed out and was killed.
    #[error(
        "git did not finish within {} seconds and was killed; retry, or check whether the server is slow or waits for input",
        limit.as_secs_f32()
    )]
    TooSlow {
        /// The timeout.
        limit: Duration,
    },
    /// Another process holds the lock of the clone.
    #[error("another process is syncing this source; retry later")]
    Busy,
    /// The clone folder contains something else.
    #[error("the clone folder contains other files; empty it, or choose another data folder")]
    Occupied,
    /// The clone is corrupt.
    #[error("the local clone is corrupt; the next refresh clones again")]
    Damaged(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The folder can't be watched.
    #[error("can't watch the folder for changes{}", if *.limit { "; raise fs.inotify.max_user_watches, or refresh it periodically" } else { "" })]
    Watch {
        /// Whether the system's inotify limit is reached.
        limit: bool,
        /// The system's error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file system operation failed.
    #[error("could not {doing}: {}", source.kind())]
    Io {
        /// The operation, such as "lock the clone".
        doing: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Settings(_) | Self::NoFolder(_) | Self::FolderDenied(_) | Self::TooManyFiles { .. } => {
                ErrorCode::ValidationError
            }
            Self::Git { .. } | Self::App(_) => ErrorCode::UpstreamError,
            Self::TooSlow { .. } => ErrorCode::Timeout,
            Self::Busy => ErrorCode::Unavailable,
            Self::NoGit(_) | Self::Occupied | Self::Damaged(_) | Self::Watch { .. } | Self::Io { .. } => {
                ErrorCode::InternalError
            }
        }
    }

    /// Why the folder of a source can't be opened.
    pub(crate) fn folder(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::FolderDenied(error),
            _ => Self::NoFolder(error),
        }
    }

    /// Wraps an I/O error with the operation that failed.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// Why a file of a snapshot could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The snapshot has no such file, or it was deleted from the folder since.
    #[error("no such file")]
    Missing,
    /// The file exceeds the reader's limit.
    #[error("the file is larger than {most} bytes")]
    TooLarge {
        /// Its size, as far as known.
        size: u64,
        /// The reader's limit, in bytes.
        most: u64,
    },
    /// The file was replaced by a symlink since the snapshot.
    #[error("the file was replaced by a symbolic link since it was listed")]
    Leaves,
    /// Reading failed.
    #[error("could not read the file")]
    Io(#[from] io::Error),
}

impl ReadError {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Missing => ErrorCode::NotFound,
            Self::TooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::Leaves => ErrorCode::InvalidPath,
            Self::Io(_) => ErrorCode::InternalError,
        }
    }
}
