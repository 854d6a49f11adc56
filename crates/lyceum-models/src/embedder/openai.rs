//! OpenAI-compatible endpoints: `POST /embeddings`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, OpenAiSettings, Pooling,
    remote::{Dialect, Model, Remote},
};
use crate::endpoint::Endpoint;

/// Context length of OpenAI's models.
const CONTEXT_TOKENS: usize = 8_191;

/// An embedder behind an OpenAI-compatible endpoint.
pub type OpenAiEmbedder = Remote<OpenAi>;

/// The OpenAI API.
#[derive(Debug)]
pub struct OpenAi {
    model: String,
    dimensions: Option<usize>,
}

/// The response body.
#[derive(Debug, Deserialize)]
pub struct Response {
    data: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    /// Connects to the configured model.
    pub async fn connect(settings: &OpenAiSettings, key: Option<Secret>) -> Result<Self, EmbedError> {
        let model = Model {
            kind: "openai",
            name: settings.model.clone(),
            pooling: Pooling::Remote,
            max_tokens: CONTEXT_TOKENS,
            dimensions: settings.dimensions,
        };
        let dialect = OpenAi { model: settings.model.clone(), dimensions: settings.dimensions };
        Self::probe(Endpoint::new(&settings.url, key).await?, dialect, model, &settings.remote).await
    }
}

impl Dialect for OpenAi {
    type Response = Response;

    fn path(&self) -> String {
        "embeddings".to_owned()
    }

    fn request(&self, texts: &[String]) -> Value {
        let mut request = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        // Only some models support it; others reject the request.
        if let (Some(dimensions), Some(fields)) = (self.dimensions, request.as_object_mut()) {
            fields.insert("dimensions".to_owned(), dimensions.into());
        }
        request
    }

    fn vectors(&self, response: Response) -> Result<Vec<Vec<f32>>, String> {
        let mut items = response.data;
        items.sort_by_key(|item| item.index);
        if items.iter().enumerate().any(|(position, item)| item.index != position) {
            return Err("a vector with an invalid or duplicate index".to_owned());
        }
        Ok(items.into_iter().map(|item| item.embedding).collect())
    }
}
