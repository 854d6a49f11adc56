//! Workers AI: `POST /accounts/{account}/ai/run/{model}`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    RerankError, WorkersAiSettings,
    remote::{Dialect, Remote},
};
use crate::endpoint::{Endpoint, Envelope, WORKERS_AI, workers_ai_path};

/// A reranker on Workers AI.
pub type WorkersAiReranker = Remote<WorkersAi>;

/// The Workers AI API.
#[derive(Debug)]
pub struct WorkersAi {
    path: String,
}

/// The `result` of a response.
#[derive(Debug, Deserialize)]
pub struct Response {
    response: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    id: usize,
    score: f32,
}

impl WorkersAiReranker {
    /// Creates the client; sends nothing.
    pub async fn connect(settings: &WorkersAiSettings, key: Option<Secret>) -> Result<Self, RerankError> {
        let endpoint = Endpoint::new(settings.url.as_deref().unwrap_or(WORKERS_AI), key).await?;
        let dialect = WorkersAi { path: workers_ai_path(&settings.account, &settings.model) };
        let identity = format!("workers-ai {}", settings.model);
        Ok(Self::new(endpoint, dialect, identity, settings.budget_ms.time()))
    }
}

impl Dialect for WorkersAi {
    type Response = Envelope<Response>;

    fn path(&self) -> String {
        self.path.clone()
    }

    fn request(&self, query: &str, passages: &[&str]) -> Value {
        let contexts: Vec<Value> = passages.iter().map(|text| json!({ "text": text })).collect();
        json!({ "query": query, "contexts": contexts, "top_k": passages.len() })
    }

    fn scores(&self, response: Envelope<Response>) -> Result<Vec<(usize, f32)>, String> {
        Ok(response.into_result()?.response.into_iter().map(|item| (item.id, item.score)).collect())
    }
}
