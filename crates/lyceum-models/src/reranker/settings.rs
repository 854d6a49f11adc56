//! Settings of the reranker. They name the variable that holds the API key, never the key itself.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// Which reranker to use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Settings {
    /// No reranking: hits keep their fused order.
    #[default]
    None,
    /// Workers AI.
    WorkersAi(WorkersAiSettings),
    /// A text-embeddings-inference server.
    Tei(TeiSettings),
    /// A Cohere-compatible endpoint.
    Cohere(CohereSettings),
    /// A local model.
    Local(LocalSettings),
}

/// Workers AI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkersAiSettings {
    /// Account id.
    pub account: String,
    /// Model name.
    #[serde(default = "workers_ai_model")]
    pub model: String,
    /// Environment variable that holds the API key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Base URL without `/accounts`, if not Cloudflare's.
    #[serde(default)]
    pub url: Option<String>,
    /// Time budget per search.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// A text-embeddings-inference server. It has one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeiSettings {
    /// Base URL.
    pub url: String,
    /// Environment variable that holds the API key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Time budget per search.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// A Cohere-compatible endpoint, such as those of Jina, Voyage or infinity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CohereSettings {
    /// Base URL without `/rerank`, such as `https://api.cohere.com/v2` or `https://api.jina.ai/v1`.
    pub url: String,
    /// Model name.
    pub model: String,
    /// Environment variable that holds the API key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Time budget per search.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// A local model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSettings {
    /// Model folder.
    pub folder: PathBuf,
    /// Time budget per search.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// Time budget per search, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Budget(pub u64);

impl Settings {
    /// Environment variable that holds the API key, if any.
    pub fn key_env(&self) -> Option<&str> {
        match self {
            Self::None | Self::Local(_) => None,
            Self::WorkersAi(settings) => settings.key_env.as_deref(),
            Self::Tei(settings) => settings.key_env.as_deref(),
            Self::Cohere(settings) => settings.key_env.as_deref(),
        }
    }

    /// Time budget per search.
    pub fn budget(&self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::WorkersAi(settings) => settings.budget_ms.time(),
            Self::Tei(settings) => settings.budget_ms.time(),
            Self::Cohere(settings) => settings.budget_ms.time(),
            Self::Local(settings) => settings.budget_ms.time(),
        }
    }
}

impl Budget {
    /// The budget as a duration.
    pub fn time(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self(1_500)
    }
}

fn workers_ai_model() -> String {
    "@cf/baai/bge-reranker-base".to_owned()
}
