//! The `Embedder` trait: text embeddings by a local model or a remote endpoint.

pub mod local;
mod ollama;
mod openai;
mod remote;
mod settings;
mod tei;
mod workers_ai;

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use lyceum_model::ErrorCode;
use lyceum_net::Secret;
use serde::{Deserialize, Serialize};

use crate::model::{Folder, ModelError};
use local::LocalEmbedder;

pub use ollama::OllamaEmbedder;
pub use openai::OpenAiEmbedder;
pub use settings::{
    LocalSettings, OllamaSettings, OpenAiSettings, RemoteSettings, Settings, TeiSettings, WorkersAiSettings,
};
pub use tei::TeiEmbedder;
pub use workers_ai::WorkersAiEmbedder;

/// Creates the embedder that the settings describe.
pub async fn connect(
    settings: &Settings,
    key: Option<Secret>,
    models: &Path,
) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(match settings {
        Settings::None => return Err(EmbedError::Model("none is configured".to_owned())),
        Settings::Local(settings) => {
            let (settings, models) = (settings.clone(), models.to_owned());
            let loaded = tokio::task::spawn_blocking(move || load(&settings, &models)).await;
            let panicked = |_| EmbedError::Model("loading failed; see the log".to_owned());
            Arc::new(loaded.map_err(panicked)??)
        }
        Settings::OpenAi(settings) => Arc::new(OpenAiEmbedder::connect(settings, key).await?),
        Settings::Ollama(settings) => Arc::new(OllamaEmbedder::connect(settings, key).await?),
        Settings::Tei(settings) => Arc::new(TeiEmbedder::connect(settings, key).await?),
        Settings::WorkersAi(settings) => Arc::new(WorkersAiEmbedder::connect(settings, key).await?),
    })
}

/// Loads a local model. Blocks.
fn load(settings: &LocalSettings, models: &Path) -> Result<LocalEmbedder, EmbedError> {
    let unusable = |error: ModelError| EmbedError::Model(error.to_string());
    let folder = Folder::open(&settings.folder_in(models)).map_err(unusable)?;
    let LocalSettings { pooling, query_prefix, passage_prefix, max_tokens, .. } = settings.clone();
    let folder = folder.with_prefixes(query_prefix, passage_prefix).with_reading(pooling, max_tokens);
    LocalEmbedder::load(&folder, std::thread::available_parallelism().map_or(1, Into::into))
}

/// The role of a text, for models that embed queries and passages differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A search query.
    Query,
    /// An indexed passage.
    Passage,
}

/// Embeds texts. A trait because real implementations need a model file or a network.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Identity of the model. Vectors of different identities are never compared.
    fn identity(&self) -> &Identity;

    /// Returns one unit vector per text, in order.
    async fn embed(&self, purpose: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Identity of an embedding model: everything that makes vectors incomparable if it differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Backend: `local`, `openai`, `ollama`, `tei` or `workers-ai`.
    pub kind: String,
    /// Its name, such as `all-MiniLM-L6-v2`.
    pub name: String,
    /// Hash of the model files, for local models.
    pub sha256: Option<String>,
    /// Pooling of token vectors.
    pub pooling: Pooling,
    /// Prefix of queries.
    pub query_prefix: String,
    /// Prefix of passages.
    pub passage_prefix: String,
    /// Dimensions of the vectors.
    pub dimensions: usize,
    /// Context length in tokens; longer texts are truncated.
    pub max_tokens: usize,
}

/// How token vectors are pooled into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Mean pooling.
    Mean,
    /// The vector of the first (`[CLS]`) token.
    Cls,
    /// Decided by the endpoint.
    Remote,
}

/// Why embedding failed. The messages are for operators; [`EmbedError::reason`] is for callers.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model files can't be used.
    #[error("the model can't be used: {0}")]
    Model(String),
    /// The endpoint can't be reached, or the connection broke.
    #[error("the embedding endpoint can't be reached: {0}")]
    Unreachable(String),
    /// The endpoint did not answer before the timeout.
    #[error("the embedding endpoint did not answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// The endpoint is rate limited or overloaded.
    #[error("the embedding endpoint is busy (status {status})")]
    Busy {
        /// HTTP status.
        status: u16,
        /// `Retry-After`, if sent.
        retry_after: Option<Duration>,
    },
    /// The endpoint rejected the request.
    #[error("the embedding endpoint refused (status {status}): {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Start of the response body.
        message: String,
    },
    /// The response is invalid; nothing of it is used.
    #[error("the embedding endpoint returned an invalid response: {0}")]
    Malformed(String),
    /// The number of vectors differs from the number of texts.
    #[error("{expected} texts were sent, but {got} vectors were returned")]
    WrongCount {
        /// Number of texts.
        expected: usize,
        /// Number of vectors.
        got: usize,
    },
    /// The vectors have other dimensions than the model.
    #[error("vectors of {got} dimensions were returned, but the model has {expected}")]
    WrongDimensions {
        /// Dimensions of the model.
        expected: usize,
        /// Dimensions returned.
        got: usize,
    },
}

impl EmbedError {
    /// Whether a retry of the same request may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Timeout(_) | Self::Busy { .. } | Self::Malformed(_) => true,
            Self::Refused { status, .. } => *status >= 500,
            Self::Model(_) | Self::WrongCount { .. } | Self::WrongDimensions { .. } => false,
        }
    }

    /// The reason for callers, without operator-only detail.
    pub fn reason(&self) -> String {
        match self {
            Self::Model(_) => "the model can't be used".to_owned(),
            Self::Unreachable(_) => "the embedding endpoint can't be reached".to_owned(),
            Self::Refused { status, .. } => format!("the embedding endpoint refused (status {status})"),
            Self::Malformed(_) => "the embedding endpoint returned an invalid response".to_owned(),
            Self::Timeout(_) | Self::Busy { .. } | Self::WrongCount { .. } | Self::WrongDimensions { .. } => {
                self.to_string()
            }
        }
    }

    /// Whether the input may be the cause, so that other texts may succeed.
    pub fn may_be_the_input(&self) -> bool {
        match self {
            Self::Refused { status, .. } => matches!(status, 400 | 413 | 422),
            Self::Model(_) | Self::Malformed(_) => true,
            Self::Unreachable(_)
            | Self::Timeout(_)
            | Self::Busy { .. }
            | Self::WrongCount { .. }
            | Self::WrongDimensions { .. } => false,
        }
    }

    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Model(_) => ErrorCode::InternalError,
            _ => ErrorCode::UpstreamError,
        }
    }
}

/// Validates vectors (count, dimensions, finite values) and normalizes them to unit length.
pub fn checked(
    identity: &Identity,
    expected: usize,
    vectors: Vec<Vec<f32>>,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    if vectors.len() != expected {
        return Err(EmbedError::WrongCount { expected, got: vectors.len() });
    }
    vectors.into_iter().map(|vector| unit(identity.dimensions, vector)).collect()
}

fn unit(expected: usize, mut vector: Vec<f32>) -> Result<Vec<f32>, EmbedError> {
    if vector.len() != expected {
        return Err(EmbedError::WrongDimensions { expected, got: vector.len() });
    }
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !norm.is_finite() || norm <= f32::EPSILON {
        return Err(EmbedError::Malformed("a zero or non-finite vector".to_owned()));
    }
    for x in &mut vector {
        *x /= norm;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests;
