//! Why something could not be kept or read back.

use lyceum_model::ErrorCode;

/// Why the database did not do what was asked. The texts are for whoever runs the server.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// There is no room left.
    #[error("the disk is full; make room for the data folder, and work continues")]
    Full(#[source] rusqlite::Error),
    /// Another process holds it, for longer than is waited.
    #[error("another process is writing to the data folder; try again in a moment")]
    Busy(#[source] rusqlite::Error),
    /// It can't be read any more.
    #[error("the database in the data folder is corrupt; restart, and it is rebuilt from the sources")]
    Damaged(#[source] rusqlite::Error),
    /// It turned out to be damaged when it was in use.
    #[error(
        "the database in the data folder was found corrupt while in use; restart, and it is rebuilt from the sources"
    )]
    Suspected,
    /// It was written by a later version.
    #[error(
        "the data folder was written by a newer lyceum (schema {found}, this one knows {known}); use that version, or another --data-dir"
    )]
    TooNew {
        /// What was found.
        found: i64,
        /// What is known.
        known: i64,
    },
    /// Anything else that SQLite says.
    #[error("the database in the data folder failed")]
    Sql(#[source] rusqlite::Error),
    /// The folder can't be made or opened.
    #[error("the data folder can't be used: {}", .0.kind())]
    Folder(#[source] std::io::Error),
    /// What is kept is not what was put there.
    #[error("unexpected data in the database: {0}")]
    Content(String),
    /// The process is about to end, or the work panicked.
    #[error("the database was closed before the transaction was done")]
    Closed,
}

impl DbError {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Full(_) | Self::Busy(_) | Self::Closed => ErrorCode::Unavailable,
            Self::Damaged(_)
            | Self::Suspected
            | Self::TooNew { .. }
            | Self::Sql(_)
            | Self::Folder(_)
            | Self::Content(_) => ErrorCode::InternalError,
        }
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase};
        let extended = error.sqlite_error().map(|failure| failure.extended_code);
        match error.sqlite_error_code() {
            Some(DiskFull) => Self::Full(error),
            // The memory that processes share is a file too.
            _ if extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => Self::Full(error),
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy(error),
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged(error),
            _ => Self::Sql(error),
        }
    }
}
