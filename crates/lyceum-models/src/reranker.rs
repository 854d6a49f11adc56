//! The seam to a model that reads a question and a passage together and says how well they fit.

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

/// Scores passages for a question. A seam: the real ones need a model file or a network.
#[async_trait]
pub trait Reranker: Send + Sync + std::fmt::Debug {
    /// What tells its scores from those of another, for the cache: kind, name, hash.
    fn identity(&self) -> &str;

    /// Gets ready, for one that has to load something first.
    async fn prepare(&self) -> Result<(), RerankError> {
        Ok(())
    }

    /// One score for each passage, in order; higher fits better. All of them in one request.
    async fn score(&self, query: &str, passages: &[String]) -> Result<Vec<f32>, RerankError>;
}

/// Why passages have no scores. The texts are for whoever runs the server.
#[derive(Debug, thiserror::Error)]
pub enum RerankError {
    /// The model's files can't be used.
    #[error("the reranker can't be used: {0}")]
    Model(String),
    /// It is not there yet.
    #[error("the reranker is still being loaded")]
    Loading,
    /// The endpoint can't be reached, or broke off.
    #[error("the reranker can't be reached: {0}")]
    Unreachable(String),
    /// It took longer than a search may wait.
    #[error("the reranker did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The endpoint has too much to do or refused.
    #[error("the reranker refused (status {status}): {message}")]
    Refused {
        /// What it answered.
        status: u16,
        /// The beginning of what it said.
        message: String,
    },
    /// The answer is not what was asked for; nothing of it is used.
    #[error("the reranker answered something else than scores: {0}")]
    Malformed(String),
}

#[cfg(test)]
mod tests;
