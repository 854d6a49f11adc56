//! Settings of the embedding model, as configured and as stored in the index. They name the variable that holds the API
//! key, never the key itself.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Pooling;

/// Which model to use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Settings {
    /// No embeddings: lexical search only.
    #[default]
    None,
    /// A local model.
    Local(LocalSettings),
    /// An OpenAI-compatible endpoint.
    #[serde(rename = "openai")]
    OpenAi(OpenAiSettings),
    /// An Ollama server.
    Ollama(OllamaSettings),
    /// A text-embeddings-inference server.
    Tei(TeiSettings),
    /// Workers AI.
    WorkersAi(WorkersAiSettings),
}

/// A local model. Unset fields are read from its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSettings {
    /// Its name, such as `all-MiniLM-L6-v2`.
    pub model: String,
    /// Model folder, if not the one of `lyceum model pull`.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Pooling of token vectors.
    #[serde(default)]
    pub pooling: Option<Pooling>,
    /// Prefix of queries.
    #[serde(default)]
    pub query_prefix: Option<String>,
    /// Prefix of passages.
    #[serde(default)]
    pub passage_prefix: Option<String>,
    /// Context length in tokens.
    #[serde(default)]
    pub max_tokens: Option<usize>,
}

/// Settings shared by all endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteSettings {
    /// Maximum number of texts per request; the endpoint may require fewer.
    pub batch: usize,
    /// Prefix of queries.
    pub query_prefix: String,
    /// Prefix of passages.
    pub passage_prefix: String,
    /// Context length in tokens, if the endpoint does not report it.
    pub max_tokens: Option<usize>,
}

/// An OpenAI-compatible endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAiSettings {
    /// Base URL without `/embeddings`, such as `https://api.openai.com/v1`.
    pub url: String,
    /// Model name.
    pub model: String,
    /// Environment variable that holds the API key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Dimensions to request, for models that support several.
    #[serde(default)]
    pub dimensions: Option<usize>,
    /// Settings shared by all endpoints.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

/// An Ollama server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OllamaSettings {
    /// Base URL, such as `http://localhost:11434`.
    pub url: String,
    /// Model name.
    pub model: String,
    /// Environment variable that holds the API key, if the server is behind a proxy that requires one.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Settings shared by all endpoints.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

/// A text-embeddings-inference server. It has one model and reports which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeiSettings {
    /// Base URL.
    pub url: String,
    /// Environment variable that holds the API key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Settings shared by all endpoints.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

/// Workers AI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkersAiSettings {
    /// Account id.
    pub account: String,
    /// Model name, such as `@cf/baai/bge-base-en-v1.5`.
    pub model: String,
    /// Environment variable that holds the API key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Base URL without `/accounts`, if not Cloudflare's.
    #[serde(default)]
    pub url: Option<String>,
    /// Settings shared by all endpoints.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

impl LocalSettings {
    /// The model folder: as configured, else below `models`, named by the last part of the model name.
    pub fn folder_in(&self, models: &Path) -> PathBuf {
        let name = self.model.rsplit('/').next().unwrap_or(&self.model);
        self.folder.clone().unwrap_or_else(|| models.join(name))
    }
}

impl Settings {
    /// Environment variable that holds the API key, if any.
    pub fn key_env(&self) -> Option<&str> {
        match self {
            Self::None | Self::Local(_) => None,
            Self::Ollama(settings) => settings.key_env.as_deref(),
            Self::OpenAi(settings) => settings.key_env.as_deref(),
            Self::Tei(settings) => settings.key_env.as_deref(),
            Self::WorkersAi(settings) => settings.key_env.as_deref(),
        }
    }
}

impl Settings {
    /// Whether both use the same endpoint and key, regardless of the model.
    pub fn same_endpoint(&self, other: &Self) -> bool {
        let endpoint = |settings: &Self| match settings {
            Self::None | Self::Local(_) => None,
            Self::OpenAi(settings) => Some((Some(settings.url.clone()), None)),
            Self::Ollama(settings) => Some((Some(settings.url.clone()), None)),
            Self::Tei(settings) => Some((Some(settings.url.clone()), None)),
            Self::WorkersAi(settings) => Some((settings.url.clone(), Some(settings.account.clone()))),
        };
        endpoint(self) == endpoint(other) && self.key_env() == other.key_env()
    }
}

impl Default for RemoteSettings {
    fn default() -> Self {
        Self { batch: 64, query_prefix: String::new(), passage_prefix: String::new(), max_tokens: None }
    }
}
