//! Workers AI: `POST /accounts/{account}/ai/run/{model}`.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, Pooling, RemoteSettings, WorkersAiSettings,
    remote::{Dialect, Model, Remote},
};
use crate::endpoint::{Endpoint, Envelope, WORKERS_AI, workers_ai_path};

/// How many texts it takes at once.
const MAX_BATCH_TEXTS: usize = 100;

/// What nearly every model there sees.
const CONTEXT_TOKENS: usize = 512;

/// A model of Workers AI.
pub type WorkersAiEmbedder = Remote<WorkersAi>;

/// What is said to it.
#[derive(Debug)]
pub struct WorkersAi {
    path: String,
    pooling: Pooling,
}

/// What it says.
#[derive(Debug, Deserialize)]
pub struct Response {
    data: Vec<Vec<f32>>,
    shape: Option<[usize; 2]>,
    pooling: Option<String>,
}

impl WorkersAiEmbedder {
    /// Meets the model that the settings name.
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
        Self::meet(endpoint, dialect, model, &RemoteSettings { batch, ..settings.remote.clone() }).await
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

    fn vectors(&self, answer: Envelope<Response>) -> Result<Vec<Vec<f32>>, String> {
        let answer = answer.opened()?;
        if let Some([count, dimensions]) = answer.shape
            && (answer.data.len() != count || answer.data.iter().any(|vector| vector.len() != dimensions))
        {
            return Err("vectors of another shape than it says".to_owned());
        }
        // Vectors of two kinds of pooling can't be compared.
        match (self.pooling, answer.pooling.as_deref()) {
            (Pooling::Cls, Some(other)) if other != "cls" => Err(format!("vectors pooled by {other}")),
            _ => Ok(answer.data),
        }
    }
}

/// The English models of BGE were trained for the first token, but are pooled by the mean unless they are asked.
fn pooling(model: &str) -> Pooling {
    let is_english_bge = model.contains("/bge-") && model.contains("-en-");
    if is_english_bge { Pooling::Cls } else { Pooling::Remote }
}
