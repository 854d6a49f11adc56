//! Cohere-compatible endpoints: `POST /rerank`. Also Jina, Voyage and infinity.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    CohereSettings, RerankError,
    remote::{Dialect, Remote},
};
use crate::endpoint::Endpoint;

/// A reranker behind a Cohere-compatible endpoint.
pub type CohereReranker = Remote<Cohere>;

/// The Cohere API.
#[derive(Debug)]
pub struct Cohere {
    model: String,
}

/// The response body.
#[derive(Debug, Deserialize)]
pub struct Response {
    /// Voyage calls them `data`.
    #[serde(alias = "data")]
    results: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    index: usize,
    relevance_score: f32,
}

impl CohereReranker {
    /// Creates the client; sends nothing.
    pub async fn connect(settings: &CohereSettings, key: Option<Secret>) -> Result<Self, RerankError> {
        let endpoint = Endpoint::new(&settings.url, key).await?;
        let identity = format!("cohere {} {}", endpoint.redacted_url(), settings.model);
        let dialect = Cohere { model: settings.model.clone() };
        Ok(Self::new(endpoint, dialect, identity, settings.budget_ms.time()))
    }
}

impl Dialect for Cohere {
    type Response = Response;

    fn path(&self) -> String {
        "rerank".to_owned()
    }

    /// Does not set the number of results: all endpoints return all scores by default, but Voyage calls the field
    /// `top_k` instead of `top_n`, and endpoints reject unknown fields.
    fn request(&self, query: &str, passages: &[&str]) -> Value {
        json!({ "model": self.model, "query": query, "documents": passages })
    }

    fn scores(&self, response: Response) -> Result<Vec<(usize, f32)>, String> {
        Ok(response.results.into_iter().map(|item| (item.index, item.relevance_score)).collect())
    }
}
