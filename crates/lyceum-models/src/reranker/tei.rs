//! text-embeddings-inference: `POST /rerank`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    RerankError, TeiSettings,
    remote::{Dialect, Remote},
};
use crate::endpoint::Endpoint;

/// A reranker on a text-embeddings-inference server.
pub type TeiReranker = Remote<Tei>;

/// The text-embeddings-inference API.
#[derive(Debug)]
pub struct Tei;

/// The score of one passage.
#[derive(Debug, Deserialize)]
pub struct Item {
    index: usize,
    score: f32,
}

impl TeiReranker {
    /// Creates the client; sends nothing.
    pub async fn connect(settings: &TeiSettings, key: Option<Secret>) -> Result<Self, RerankError> {
        let endpoint = Endpoint::new(&settings.url, key).await?;
        // The server may be down now, so its URL stands for the model.
        let identity = format!("tei {}", endpoint.redacted_url());
        Ok(Self::new(endpoint, Tei, identity, settings.budget_ms.time()))
    }
}

impl Dialect for Tei {
    type Response = Vec<Item>;

    fn path(&self) -> String {
        "rerank".to_owned()
    }

    fn request(&self, query: &str, passages: &[&str]) -> Value {
        json!({ "query": query, "texts": passages, "truncate": true, "raw_scores": false })
    }

    fn scores(&self, response: Vec<Item>) -> Result<Vec<(usize, f32)>, String> {
        Ok(response.into_iter().map(|item| (item.index, item.score)).collect())
    }
}
