//! The `Reranker` trait: relevance of passages to a query, by a cross-encoder.

mod cohere;
mod deferred;
pub mod local;
mod remote;
mod settings;
mod tei;
mod workers_ai;

use std::time::Duration;

use async_trait::async_trait;

pub use cohere::CohereReranker;
pub use deferred::Deferred;
pub use settings::{Budget, CohereSettings, LocalSettings, Settings, TeiSettings, WorkersAiSettings};
pub use tei::TeiReranker;
pub use workers_ai::WorkersAiReranker;

/// Scores passages for a query. A trait because real implementations need a model file or a network.
#[async_trait]
pub trait Reranker: Send + Sync + std::fmt::Debug {
    /// Identifies the model in cache keys: kind, name, hash.
    fn identity(&self) -> &str;

    /// Loads the model, if necessary.
    async fn prepare(&self) -> Result<(), RerankError> {
        Ok(())
    }

    /// Returns one score per passage, in order; higher is more relevant. One request for all.
    async fn score(&self, query: &str, passages: &[String]) -> Result<Vec<f32>, RerankError>;
}

/// Why reranking failed. The messages are for operators.
#[derive(Debug, thiserror::Error)]
pub enum RerankError {
    /// The model files can't be used.
    #[error("the reranker can't be used: {0}")]
    Model(String),
    /// The model is being loaded.
    #[error("the reranker is still being loaded")]
    Loading,
    /// The endpoint can't be reached, or the connection broke.
    #[error("the reranker can't be reached: {0}")]
    Unreachable(String),
    /// The time budget is exceeded.
    #[error("the reranker did not answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The endpoint is overloaded or rejected the request.
    #[error("the reranker refused (status {status}): {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Start of the response body.
        message: String,
    },
    /// The response is invalid; nothing of it is used.
    #[error("the reranker returned an invalid response: {0}")]
    Malformed(String),
}

#[cfg(test)]
mod tests;
