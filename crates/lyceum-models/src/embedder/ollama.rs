//! Ollama: `POST /api/embed`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, OllamaSettings, Pooling,
    remote::{Dialect, Model, Remote},
};
use crate::endpoint::Endpoint;

/// What nearly every model sees at least. The server cuts what is too long for the model that it has.
const CONTEXT_TOKENS: usize = 512;

/// A model of an Ollama server.
pub type OllamaEmbedder = Remote<Ollama>;

/// What is said to it.
#[derive(Debug)]
pub struct Ollama {
    model: String,
}

/// What it says.
#[derive(Debug, Deserialize)]
pub struct Response {
    embeddings: Vec<Vec<f32>>,
}

impl OllamaEmbedder {
    /// Meets the model that the settings name.
    pub async fn connect(settings: &OllamaSettings, key: Option<Secret>) -> Result<Self, EmbedError> {
        let model = Model {
            kind: "ollama",
            name: settings.model.clone(),
            pooling: Pooling::Remote,
            max_tokens: CONTEXT_TOKENS,
            dimensions: None,
        };
        let dialect = Ollama { model: settings.model.clone() };
        Self::meet(Endpoint::new(&settings.url, key).await?, dialect, model, &settings.remote).await
    }
}

impl Dialect for Ollama {
    type Response = Response;

    fn path(&self) -> String {
        "api/embed".to_owned()
    }

    fn request(&self, texts: &[String]) -> Value {
        json!({ "model": self.model, "input": texts, "truncate": true })
    }

    fn vectors(&self, answer: Response) -> Result<Vec<Vec<f32>>, String> {
        Ok(answer.embeddings)
    }
}
