//! Endpoints that speak as OpenAI's does: `POST /embeddings`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, OpenAiSettings, Pooling,
    remote::{Dialect, Model, Remote},
};
use crate::endpoint::Endpoint;

/// How many tokens the models of OpenAI see.
const CONTEXT_TOKENS: usize = 8_191;

/// A model behind an endpoint that speaks as OpenAI's does.
pub type OpenAiEmbedder = Remote<OpenAi>;

/// What is said to it.
#[derive(Debug)]
pub struct OpenAi {
    model: String,
    dimensions: Option<usize>,
}

/// What it says.
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
    /// Meets the model that the settings name.
    pub async fn connect(settings: &OpenAiSettings, key: Option<Secret>) -> Result<Self, EmbedError> {
        let model = Model {
            kind: "openai",
            name: settings.model.clone(),
            pooling: Pooling::Remote,
            max_tokens: CONTEXT_TOKENS,
            dimensions: settings.dimensions,
        };
        let dialect = OpenAi { model: settings.model.clone(), dimensions: settings.dimensions };
        Self::meet(Endpoint::new(&settings.url, key).await?, dialect, model, &settings.remote).await
    }
}

impl Dialect for OpenAi {
    type Response = Response;

    fn path(&self) -> String {
        "embeddings".to_owned()
    }

    fn request(&self, texts: &[String]) -> Value {
        let mut request = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        // Only some models take it, and others refuse.
        if let (Some(dimensions), Some(fields)) = (self.dimensions, request.as_object_mut()) {
            fields.insert("dimensions".to_owned(), dimensions.into());
        }
        request
    }

    fn vectors(&self, answer: Response) -> Result<Vec<Vec<f32>>, String> {
        let mut items = answer.data;
        items.sort_by_key(|item| item.index);
        if items.iter().enumerate().any(|(place, item)| item.index != place) {
            return Err("a vector that belongs to no text, or two that belong to one".to_owned());
        }
        Ok(items.into_iter().map(|item| item.embedding).collect())
    }
}
