//! Why a search failed.

use lyceum_model::ErrorCode;
use lyceum_store::DbError;

/// Why a search failed. What only makes an answer poorer is no error; see `QueryResult::degraded`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The question can't be one.
    #[error("{0}")]
    Query(String),
    /// What is kept can't be read.
    #[error("the index can't be read")]
    Database(#[from] DbError),
    /// It is still being opened.
    #[error("the index is still being opened; try again in a moment")]
    NotReady,
    /// It could not be opened, or work on it broke off.
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
