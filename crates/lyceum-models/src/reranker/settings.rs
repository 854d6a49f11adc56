//! Which model scores passages, as it is configured. No key is in here, only where it is found.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// The choice of a reranker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Settings {
    /// None: hits stay in the order that words and vectors give them.
    #[default]
    None,
    /// Workers AI.
    WorkersAi(WorkersAiSettings),
    /// A text-embeddings-inference server.
    Tei(TeiSettings),
    /// An endpoint that speaks as Cohere's does.
    Cohere(CohereSettings),
    /// A model on this machine.
    Local(LocalSettings),
}

/// Workers AI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkersAiSettings {
    /// The id of the account.
    pub account: String,
    /// The name of the model.
    #[serde(default = "workers_ai_model")]
    pub model: String,
    /// The variable of the environment that holds the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Its address up to `/accounts`, if not Cloudflare's own.
    #[serde(default)]
    pub url: Option<String>,
    /// How long a search waits for it.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// A text-embeddings-inference server. It has one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeiSettings {
    /// Its address.
    pub url: String,
    /// The variable of the environment that holds the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// How long a search waits for it.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// An endpoint that speaks as Cohere's does, such as those of Jina, Voyage or infinity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CohereSettings {
    /// Its address up to `/rerank`, such as `https://api.cohere.com/v2` or `https://api.jina.ai/v1`.
    pub url: String,
    /// The name of the model there.
    pub model: String,
    /// The variable of the environment that holds the key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// How long a search waits for it.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// A model on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalSettings {
    /// Where its files are.
    pub folder: PathBuf,
    /// How long a search waits for it.
    #[serde(default)]
    pub budget_ms: Budget,
}

/// How long a search waits for its scores, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Budget(pub u64);

impl Settings {
    /// The variable of the environment that holds the key, where there is one.
    pub fn key_env(&self) -> Option<&str> {
        match self {
            Self::None | Self::Local(_) => None,
            Self::WorkersAi(settings) => settings.key_env.as_deref(),
            Self::Tei(settings) => settings.key_env.as_deref(),
            Self::Cohere(settings) => settings.key_env.as_deref(),
        }
    }

    /// How long a search waits for its scores.
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
    /// The same as a duration.
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
