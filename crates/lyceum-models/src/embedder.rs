//! The seam to a model that turns text into vectors: a file on this machine or somebody's endpoint.

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

/// Sets a model up.
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
            let died = |_| EmbedError::Model("loading it failed; the log says more".to_owned());
            Arc::new(loaded.map_err(died)??)
        }
        Settings::OpenAi(settings) => Arc::new(OpenAiEmbedder::connect(settings, key).await?),
        Settings::Ollama(settings) => Arc::new(OllamaEmbedder::connect(settings, key).await?),
        Settings::Tei(settings) => Arc::new(TeiEmbedder::connect(settings, key).await?),
        Settings::WorkersAi(settings) => Arc::new(WorkersAiEmbedder::connect(settings, key).await?),
    })
}

/// Loads a model of this machine. Blocks.
fn load(settings: &LocalSettings, models: &Path) -> Result<LocalEmbedder, EmbedError> {
    let broken = |error: ModelError| EmbedError::Model(error.to_string());
    let folder = Folder::open(&settings.folder_in(models)).map_err(broken)?;
    let LocalSettings { pooling, query_prefix, passage_prefix, max_tokens, .. } = settings.clone();
    let folder = folder.with_prefixes(query_prefix, passage_prefix).with_reading(pooling, max_tokens);
    LocalEmbedder::load(&folder, std::thread::available_parallelism().map_or(1, Into::into))
}

/// What a text is, for models that tell questions and passages apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// What somebody asks.
    Query,
    /// What may answer it.
    Passage,
}

/// Turns text into vectors. A seam: the real ones need a model file or a network.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Which model this is. Vectors of two identities are never compared.
    fn identity(&self) -> &Identity;

    /// One vector for each text, in order, each of length one.
    async fn embed(&self, purpose: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Which model made a vector: with another one, nothing can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// What runs it: `local`, `openai`, `ollama`, `tei` or `workers-ai`.
    pub kind: String,
    /// Its name, such as `all-MiniLM-L6-v2`.
    pub name: String,
    /// The hash of its files, where they are here.
    pub sha256: Option<String>,
    /// How the vectors of words become one.
    pub pooling: Pooling,
    /// What stands before a question.
    pub query_prefix: String,
    /// What stands before a passage.
    pub passage_prefix: String,
    /// How long a vector is.
    pub dimensions: usize,
    /// How many tokens of a text it sees.
    pub max_tokens: usize,
}

/// How the vectors of the tokens become that of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// That of the first token.
    Cls,
    /// The endpoint's own business.
    Remote,
}

/// Why texts have no vectors. The texts are for whoever runs the server.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model's files can't be used.
    #[error("the model can't be used: {0}")]
    Model(String),
    /// The endpoint can't be reached, or broke off.
    #[error("the embedding endpoint can't be reached: {0}")]
    Unreachable(String),
    /// The endpoint did not answer in time.
    #[error("the embedding endpoint did not answer within {} s", .0.as_secs())]
    Late(Duration),
    /// The endpoint has too much to do.
    #[error("the embedding endpoint is busy (status {status})")]
    Busy {
        /// What it answered.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The endpoint does not take the request, whoever asks again.
    #[error("the embedding endpoint refused (status {status}): {message}")]
    Refused {
        /// What it answered.
        status: u16,
        /// The beginning of what it said.
        message: String,
    },
    /// The answer is not what was asked for; nothing of it is used.
    #[error("the embedding endpoint answered something else than vectors: {0}")]
    Malformed(String),
    /// Not one vector for each text.
    #[error("{expected} texts were sent and {got} vectors came back")]
    WrongCount {
        /// How many texts there were.
        expected: usize,
        /// How many vectors.
        got: usize,
    },
    /// Vectors of another length than the model's.
    #[error("vectors of {got} dimensions came back where the model has {expected}")]
    WrongDimensions {
        /// What the identity says.
        expected: usize,
        /// What came.
        got: usize,
    },
}

impl EmbedError {
    /// Whether the same request may go well later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Late(_) | Self::Busy { .. } | Self::Malformed(_) => true,
            Self::Refused { status, .. } => *status >= 500,
            Self::Model(_) | Self::WrongCount { .. } | Self::WrongDimensions { .. } => false,
        }
    }

    /// Why there are no vectors, without what only concerns whoever runs the server.
    pub fn reason(&self) -> String {
        match self {
            Self::Model(_) => "the model can't be used".to_owned(),
            Self::Unreachable(_) => "the embedding endpoint can't be reached".to_owned(),
            Self::Refused { status, .. } => format!("the embedding endpoint refused (status {status})"),
            Self::Malformed(_) => "the embedding endpoint answered something else than vectors".to_owned(),
            Self::Late(_) | Self::Busy { .. } | Self::WrongCount { .. } | Self::WrongDimensions { .. } => {
                self.to_string()
            }
        }
    }

    /// Whether another text may have gone well.
    pub fn may_be_the_text(&self) -> bool {
        match self {
            Self::Refused { status, .. } => matches!(status, 400 | 413 | 422),
            Self::Model(_) | Self::Malformed(_) => true,
            Self::Unreachable(_)
            | Self::Late(_)
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

/// The vectors as they may be stored: as many as asked for, of the right length, finite, each scaled to length one.
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
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return Err(EmbedError::Malformed("a vector without a direction".to_owned()));
    }
    for x in &mut vector {
        *x /= length;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests;
