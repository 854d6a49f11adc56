//! Endpoints that speak as Cohere's does: `POST /rerank`. Those of Jina, Voyage and infinity do.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    CohereSettings, RerankError,
    remote::{Dialect, Remote},
};
use crate::endpoint::Endpoint;

/// A reranker behind an endpoint that speaks as Cohere's does.
pub type CohereReranker = Remote<Cohere>;

/// What is said to it.
#[derive(Debug)]
pub struct Cohere {
    model: String,
}

/// What it says.
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
    /// Gets ready to ask.
    pub async fn connect(settings: &CohereSettings, key: Option<Secret>) -> Result<Self, RerankError> {
        let endpoint = Endpoint::new(&settings.url, key).await?;
        let identity = format!("cohere {} {}", endpoint.place(), settings.model);
        let dialect = Cohere { model: settings.model.clone() };
        Ok(Self::new(endpoint, dialect, identity, settings.budget_ms.time()))
    }
}

impl Dialect for Cohere {
    type Response = Response;

    fn path(&self) -> String {
        "rerank".to_owned()
    }

    /// How many scores shall come back is not said: all of them everywhere, but the field has another name at Voyage
    /// (`top_k`) than elsewhere (`top_n`), and a name that an endpoint does not know is refused.
    fn request(&self, query: &str, passages: &[&str]) -> Value {
        json!({ "model": self.model, "query": query, "documents": passages })
    }

    fn scores(&self, answer: Response) -> Result<Vec<(usize, f32)>, String> {
        Ok(answer.results.into_iter().map(|item| (item.index, item.relevance_score)).collect())
    }
}
