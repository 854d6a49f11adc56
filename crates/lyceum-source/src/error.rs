//! Why a source could not be read.
//!
//! The texts are for whoever keeps the source: they say what to do and never hold a secret or a path of ours.

use std::{io, time::Duration};

use lyceum_model::ErrorCode;

use crate::git::{Fault, GitMessage};

/// Why a source could not be read or brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address or the branch can't be used.
    #[error("{0}")]
    Settings(String),
    /// There is no folder there.
    #[error("no such folder; check its path")]
    NoFolder(#[source] io::Error),
    /// There are more files than a source may have.
    #[error("the source has more than {most} files or folders; choose a folder further down, or split it")]
    TooManyFiles {
        /// How many a source may have.
        most: usize,
    },
    /// The `git` program is not there.
    #[error("could not start git; install it, and check that it is in PATH")]
    NoGit(#[source] io::Error),
    /// `git` failed.
    #[error("{}", fault.advice(branch))]
    Git {
        /// What is known of the failure.
        fault: Fault,
        /// The branch that was asked for.
        branch: String,
        /// What git wrote, without secrets.
        #[source]
        message: GitMessage,
    },
    /// `git` took too long and was ended.
    #[error(
        "git did not finish within {} seconds and was killed; retry, or check whether the server is slow or waits for input",
        limit.as_secs_f32()
    )]
    TooSlow {
        /// The limit.
        limit: Duration,
    },
    /// Another process works on the same clone.
    #[error("another process is syncing this source; retry later")]
    Busy,
    /// The place of the clone holds something else.
    #[error("the folder for the clone holds something else; empty it, or choose another data folder")]
    Occupied,
    /// The clone can't be read.
    #[error("the local clone is corrupt; the next refresh clones again")]
    Damaged(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The folder can't be watched.
    #[error("the folder can't be watched for changes{}", if *.limit { "; raise fs.inotify.max_user_watches, or refresh it from time to time" } else { "" })]
    Watch {
        /// Whether the system's limit of watched folders is reached.
        limit: bool,
        /// What the system said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The disk failed us.
    #[error("could not {doing}: {}", source.kind())]
    Io {
        /// What was being done, such as "lock the clone".
        doing: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Settings(_) | Self::NoFolder(_) | Self::TooManyFiles { .. } => ErrorCode::ValidationError,
            Self::Git { .. } => ErrorCode::UpstreamError,
            Self::TooSlow { .. } => ErrorCode::Timeout,
            Self::Busy => ErrorCode::Unavailable,
            Self::NoGit(_) | Self::Occupied | Self::Damaged(_) | Self::Watch { .. } | Self::Io { .. } => {
                ErrorCode::InternalError
            }
        }
    }

    /// Makes a fault of the disk out of what was being done.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// Why a file of a snapshot could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The snapshot has no such file, or it is gone from the folder by now.
    #[error("there is no such file")]
    Missing,
    /// The file is larger than the reader wants.
    #[error("the file is larger than {most} bytes")]
    TooLarge {
        /// How large it is, as far as that is known.
        size: u64,
        /// The limit of the reader.
        most: u64,
    },
    /// A link has taken the place of the file since the snapshot.
    #[error("the file has become a link since it was listed")]
    Leaves,
    /// The disk failed us.
    #[error("the file could not be read")]
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
