//! Ollama: `POST /api/embed`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, OllamaSettings, Pooling,
    remote::{Dialect, Model, Remote},
};
use crate::endpoint::Endpoint;

/// Context length of nearly every model. The server truncates what is too long for its model.
const CONTEXT_TOKENS: usize = 512;

/// An embedder on an Ollama server.
pub type OllamaEmbedder = Remote<Ollama>;

/// The Ollama API.
#[derive(Debug)]
pub struct Ollama {
    model: String,
}

/// The response body.
#[derive(Debug, Deserialize)]
pub struct Response {
    embeddings: Vec<Vec<f32>>,
}

impl OllamaEmbedder {
    /// Connects to the configured model.
    pub async fn connect(settings: &OllamaSettings, key: Option<Secret>) -> Result<Self, EmbedError> {
        let model = Model {
            kind: "ollama",
            name: settings.model.clone(),
            pooling: Pooling::Remote,
            max_tokens: CONTEXT_TOKENS,
            dimensions: None,
        };
        let dialect = Ollama { model: settings.model.clone() };
        Self::probe(Endpoint::new(&settings.url, key).await?, dialect, model, &settings.remote).await
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

    fn vectors(&self, response: Response) -> Result<Vec<Vec<f32>>, String> {
        Ok(response.embeddings)
    }
}
