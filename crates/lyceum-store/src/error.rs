//! Errors of the database.

use lyceum_model::ErrorCode;

/// What the driver of the database reported, for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DriverError(String);

impl DriverError {
    pub(crate) fn new(error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(error.source(), |error| error.source());
        Self(causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// Why a database operation failed. The messages are for the operator.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// The disk is full.
    #[error("the disk is full; make room for the data folder, and work continues")]
    Full(#[source] DriverError),
    /// Another process holds the lock for longer than the timeout.
    #[error("another process is writing to the data folder; try again in a moment")]
    Busy(#[source] DriverError),
    /// The file is corrupt.
    #[error("the database in the data folder is corrupt; restart, and it is rebuilt from the sources")]
    Corrupt(#[source] DriverError),
    /// The file was found corrupt during earlier use.
    #[error(
        "the database in the data folder was found corrupt while in use; restart, and it is rebuilt from the sources"
    )]
    MarkedCorrupt,
    /// It was written by a later version.
    #[error(
        "the data folder was written by a newer lyceum (schema {found}, this one knows {known}); use that version, or another --data-dir"
    )]
    TooNew {
        /// Schema version of the database.
        found: i64,
        /// Newest schema version this build supports.
        known: i64,
    },
    /// Any other error of the database.
    #[error("the database in the data folder failed")]
    Sql(#[source] DriverError),
    /// The folder can't be created or opened.
    #[error("the data folder can't be used: {}", .0.kind())]
    Folder(#[source] std::io::Error),
    /// A stored value is invalid.
    #[error("unexpected data in the database: {0}")]
    Content(String),
    /// The address of the database, or its certificate file, can't be used.
    #[error(
        "the address of the database can't be used; it has the form postgres://user:password@host/database"
    )]
    Address(#[source] DriverError),
    /// The database server can't be reached, or is starting, stopping or full.
    #[error("the database can't be reached; try again in a moment")]
    Unavailable(#[source] DriverError),
    /// Another transaction was in the way; the work runs again.
    #[error("the database is busy; try again in a moment")]
    Conflict(#[source] DriverError),
    /// The connection was lost during a commit, and its outcome can't be found out.
    #[error("the connection to the database was lost; it is not known whether the change was stored")]
    Unknown,
    /// Another process has taken over what the work is about.
    #[error("another process has taken over; this one continues when that one has ended")]
    LeaseLost,
    /// The process is shutting down, or the work panicked.
    #[error("the database was closed before the transaction was done")]
    Closed,
}

impl DbError {
    /// Whether the same work may succeed when it runs again.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Unavailable(_) | Self::Conflict(_))
    }

    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Full(_)
            | Self::Busy(_)
            | Self::Unavailable(_)
            | Self::Conflict(_)
            | Self::Unknown
            | Self::LeaseLost
            | Self::Closed => ErrorCode::Unavailable,
            Self::Corrupt(_)
            | Self::MarkedCorrupt
            | Self::TooNew { .. }
            | Self::Address(_)
            | Self::Sql(_)
            | Self::Folder(_)
            | Self::Content(_) => ErrorCode::InternalError,
        }
    }
}
