//! text-embeddings-inference: `POST /rerank`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    RerankError, TeiSettings,
    remote::{Dialect, Remote},
};
use crate::endpoint::Endpoint;

/// The reranker of a text-embeddings-inference server.
pub type TeiReranker = Remote<Tei>;

/// What is said to it.
#[derive(Debug)]
pub struct Tei;

/// What it says of one passage.
#[derive(Debug, Deserialize)]
pub struct Item {
    index: usize,
    score: f32,
}

impl TeiReranker {
    /// Gets ready to ask.
    pub async fn connect(settings: &TeiSettings, key: Option<Secret>) -> Result<Self, RerankError> {
        let endpoint = Endpoint::new(&settings.url, key).await?;
        // Which model is there may only be known later, so the address stands for it.
        let identity = format!("tei {}", endpoint.place());
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

    fn scores(&self, answer: Vec<Item>) -> Result<Vec<(usize, f32)>, String> {
        Ok(answer.into_iter().map(|item| (item.index, item.score)).collect())
    }
}
