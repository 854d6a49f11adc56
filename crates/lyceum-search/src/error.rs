//! Why a search failed.

use lyceum_model::ErrorCode;
use lyceum_store::DbError;

/// Why a search failed. A degraded result is not an error; see `QueryResult::degraded`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The query is invalid.
    #[error("{0}")]
    Query(String),
    /// The database can't be read.
    #[error("the index can't be read")]
    Database(#[from] DbError),
    /// The index is still being opened.
    #[error("the index is still being opened; try again in a moment")]
    NotReady,
    /// The index could not be opened, or a task failed.
    #[error("{0}")]
    Closed(String),
}

impl Error {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Query(_) => ErrorCode::InvalidQuery,
            Self::Database(error) => error.code(),
            Self::NotReady => ErrorCode::Unavailable,
            Self::Closed(_) => ErrorCode::SearchError,
        }
    }
}
