//! Failures in two versions: one for callers, one for operators.

use std::error::Error as _;

use lyceum_models::embedder::EmbedError;
use lyceum_store::DbError;

use crate::error::Error;

/// Why something failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// For callers: no messages of endpoints or of the system, no paths.
    pub reason: String,
    /// Full detail, for the log and for CLI commands.
    pub detail: String,
}

impl Failure {
    /// A failure of the index's database.
    pub(crate) fn of_index(error: &DbError) -> Self {
        let reason = match error {
            DbError::Full(_) => "the disk is full",
            DbError::Busy(_) | DbError::LeaseLost => "another process is writing to it",
            DbError::Corrupt(_) | DbError::MarkedCorrupt | DbError::Content(_) => "it is damaged",
            DbError::TooNew { .. } => "it was written by a newer version",
            DbError::Unavailable(_) | DbError::Conflict(_) | DbError::Unknown => {
                "the database can't be reached"
            }
            DbError::Sql(_) | DbError::Folder(_) | DbError::Address(_) | DbError::Closed => "see the log",
        };
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        Self { reason: format!("the index can't be used: {reason}"), detail: format!("{error}{cause}") }
    }

    /// A background task that panicked or was cancelled.
    pub(crate) fn of_task(error: &tokio::task::JoinError) -> Self {
        Self { reason: "it failed; see the log".to_owned(), detail: error.to_string() }
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
