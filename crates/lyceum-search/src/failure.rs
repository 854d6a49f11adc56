//! Why something does not work, told twice: to whoever asks, and to whoever runs the server.

use std::error::Error as _;

use lyceum_models::embedder::EmbedError;
use lyceum_store::DbError;

use crate::error::Error;

/// Why something does not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In words for everybody: nothing that an endpoint or the system said, no path.
    pub reason: String,
    /// All that is known, for the log and for commands.
    pub detail: String,
}

impl Failure {
    /// What went wrong with the files of the index.
    pub(crate) fn of_index(error: &DbError) -> Self {
        let reason = match error {
            DbError::Full(_) => "the disk is full",
            DbError::Busy(_) => "another process is writing to it",
            DbError::Damaged(_) | DbError::Suspected | DbError::Content(_) => "it is damaged",
            DbError::TooNew { .. } => "it was written by a newer version",
            DbError::Sql(_) | DbError::Folder(_) | DbError::Closed => "the log says more",
        };
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        Self { reason: format!("the index can't be used: {reason}"), detail: format!("{error}{cause}") }
    }

    /// Work that broke off.
    pub(crate) fn of_work(error: &tokio::task::JoinError) -> Self {
        Self { reason: "it failed; the log says more".to_owned(), detail: error.to_string() }
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Self::of_index(&error)
    }
}

impl From<EmbedError> for Failure {
    fn from(error: EmbedError) -> Self {
        Self { reason: error.reason(), detail: error.to_string() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Database(error) => Self::of_index(&error),
            other => Self { reason: other.to_string(), detail: other.to_string() },
        }
    }
}
