//! Workers AI: `POST /accounts/{account}/ai/run/{model}`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, Pooling, RemoteSettings, WorkersAiSettings,
    remote::{Dialect, Model, Remote},
};
use crate::endpoint::{Endpoint, Envelope, WORKERS_AI, workers_ai_path};

/// Maximum batch size.
const MAX_BATCH_TEXTS: usize = 100;

/// Context length of nearly every model.
const CONTEXT_TOKENS: usize = 512;

/// An embedder on Workers AI.
pub type WorkersAiEmbedder = Remote<WorkersAi>;

/// The Workers AI API.
#[derive(Debug)]
pub struct WorkersAi {
    path: String,
    pooling: Pooling,
}

/// The `result` of a response.
#[derive(Debug, Deserialize)]
pub struct Response {
    data: Vec<Vec<f32>>,
    shape: Option<[usize; 2]>,
    pooling: Option<String>,
}

impl WorkersAiEmbedder {
    /// Connects to the configured model.
    pub async fn connect(settings: &WorkersAiSettings, key: Option<Secret>) -> Result<Self, EmbedError> {
        let endpoint = Endpoint::new(settings.url.as_deref().unwrap_or(WORKERS_AI), key).await?;
        let pooling = pooling(&settings.model);
        let model = Model {
            kind: "workers-ai",
            name: settings.model.clone(),
            pooling,
            max_tokens: CONTEXT_TOKENS,
            dimensions: None,
        };
        let dialect = WorkersAi { path: workers_ai_path(&settings.account, &settings.model), pooling };
        let batch = settings.remote.batch.min(MAX_BATCH_TEXTS);
        Self::probe(endpoint, dialect, model, &RemoteSettings { batch, ..settings.remote.clone() }).await
    }
}

impl Dialect for WorkersAi {
    type Response = Envelope<Response>;

    fn path(&self) -> String {
        self.path.clone()
    }

    fn request(&self, texts: &[String]) -> Value {
        match self.pooling {
            Pooling::Cls => json!({ "text": texts, "pooling": "cls" }),
            Pooling::Mean | Pooling::Remote => json!({ "text": texts }),
        }
    }

    fn vectors(&self, response: Envelope<Response>) -> Result<Vec<Vec<f32>>, String> {
        let response = response.into_result()?;
        if let Some([count, dimensions]) = response.shape
            && (response.data.len() != count || response.data.iter().any(|vector| vector.len() != dimensions))
        {
            return Err("the vectors do not match the declared shape".to_owned());
        }
        // Vectors of different pooling can't be compared.
        match (self.pooling, response.pooling.as_deref()) {
            (Pooling::Cls, Some(other)) if other != "cls" => Err(format!("unexpected pooling {other}")),
            _ => Ok(response.data),
        }
    }
}

/// English BGE models were trained with CLS pooling, but Workers AI uses mean pooling unless told otherwise.
fn pooling(model: &str) -> Pooling {
    let is_english_bge = model.contains("/bge-") && model.contains("-en-");
    if is_english_bge { Pooling::Cls } else { Pooling::Remote }
}
