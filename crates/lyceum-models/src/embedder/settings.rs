//! Which model makes vectors, as it is configured and kept in the index. No key is in here, only where it is found.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Pooling;

/// The choice of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Settings {
    /// No vectors: search goes by words alone.
    #[default]
    None,
    /// A model on this machine.
    Local(LocalSettings),
    /// An endpoint that speaks as OpenAI's does.
    #[serde(rename = "openai")]
    OpenAi(OpenAiSettings),
    /// An Ollama server.
    Ollama(OllamaSettings),
    /// A text-embeddings-inference server.
    Tei(TeiSettings),
    /// Workers AI.
    WorkersAi(WorkersAiSettings),
}

/// A model on this machine. What is not said is taken from its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSettings {
    /// Its name, such as `all-MiniLM-L6-v2`.
    pub model: String,
    /// Where its files are, if not where `lyceum model pull` puts them.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// How the vectors of words become one.
    #[serde(default)]
    pub pooling: Option<Pooling>,
    /// What stands before a question.
    #[serde(default)]
    pub query_prefix: Option<String>,
    /// What stands before a passage.
    #[serde(default)]
    pub passage_prefix: Option<String>,
    /// How many tokens of a text it sees.
    #[serde(default)]
    pub max_tokens: Option<usize>,
}

/// What all endpoints have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteSettings {
    /// How many texts go into one request, at most; the endpoint may want fewer.
    pub batch: usize,
    /// What stands before a question.
    pub query_prefix: String,
    /// What stands before a passage.
    pub passage_prefix: String,
    /// How many tokens of a text the model sees, where the endpoint does not tell.
    pub max_tokens: Option<usize>,
}

/// An endpoint that speaks as OpenAI's does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAiSettings {
    /// Its address up to `/embeddings`, such as `https://api.openai.com/v1`.
    pub url: String,
    /// The name of the model there.
    pub model: String,
    /// The variable of the environment that holds the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// How long vectors shall be, for models that leave the choice.
    #[serde(default)]
    pub dimensions: Option<usize>,
    /// What all endpoints have in common.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

/// An Ollama server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OllamaSettings {
    /// Its address, such as `http://localhost:11434`.
    pub url: String,
    /// The name of the model there.
    pub model: String,
    /// The variable of the environment that holds the key, where somebody put the server behind one.
    #[serde(default)]
    pub key_env: Option<String>,
    /// What all endpoints have in common.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

/// A text-embeddings-inference server. It has one model and says which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeiSettings {
    /// Its address.
    pub url: String,
    /// The variable of the environment that holds the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// What all endpoints have in common.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

/// Workers AI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkersAiSettings {
    /// The id of the account.
    pub account: String,
    /// The name of the model, such as `@cf/baai/bge-base-en-v1.5`.
    pub model: String,
    /// The variable of the environment that holds the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Its address up to `/accounts`, if not Cloudflare's own.
    #[serde(default)]
    pub url: Option<String>,
    /// What all endpoints have in common.
    #[serde(flatten)]
    pub remote: RemoteSettings,
}

impl LocalSettings {
    /// Where its files are: where it says, else in the folder of models under the last part of its name.
    pub fn folder_in(&self, models: &Path) -> PathBuf {
        let name = self.model.rsplit('/').next().unwrap_or(&self.model);
        self.folder.clone().unwrap_or_else(|| models.join(name))
    }
}

impl Settings {
    /// The variable of the environment that holds the key, where there is one.
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
    /// Whether requests go to the same endpoint with the same key, whatever the model is.
    pub fn is_where(&self, other: &Self) -> bool {
        let place = |settings: &Self| match settings {
            Self::None | Self::Local(_) => None,
            Self::OpenAi(settings) => Some((Some(settings.url.clone()), None)),
            Self::Ollama(settings) => Some((Some(settings.url.clone()), None)),
            Self::Tei(settings) => Some((Some(settings.url.clone()), None)),
            Self::WorkersAi(settings) => Some((settings.url.clone(), Some(settings.account.clone()))),
        };
        place(self) == place(other) && self.key_env() == other.key_env()
    }
}

impl Default for RemoteSettings {
    fn default() -> Self {
        Self { batch: 64, query_prefix: String::new(), passage_prefix: String::new(), max_tokens: None }
    }
}
