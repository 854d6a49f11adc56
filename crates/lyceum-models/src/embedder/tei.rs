//! text-embeddings-inference: `GET /info` says which model is there, `POST /embed` asks it.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, Pooling, RemoteSettings, TeiSettings,
    remote::{Dialect, Model, PASSAGE_LIMITS, Remote},
};
use crate::endpoint::Endpoint;

/// The model of a text-embeddings-inference server.
pub type TeiEmbedder = Remote<Tei>;

/// What is said to it.
#[derive(Debug)]
pub struct Tei;

/// What the server says of itself.
#[derive(Debug, Deserialize)]
struct Info {
    model_id: String,
    model_sha: Option<String>,
    #[serde(default)]
    model_type: Value,
    max_input_length: usize,
    max_client_batch_size: usize,
}

impl TeiEmbedder {
    /// Meets the model that the server has.
    pub async fn connect(settings: &TeiSettings, key: Option<Secret>) -> Result<Self, EmbedError> {
        let endpoint = Endpoint::new(&settings.url, key).await?;
        let info: Info = endpoint.get("info", PASSAGE_LIMITS).await?;
        let batch = settings.remote.batch.min(info.max_client_batch_size);
        let model = Model {
            kind: "tei",
            pooling: pooling(&info.model_type)?,
            max_tokens: info.max_input_length,
            dimensions: None,
            name: name(info),
        };
        Self::meet(endpoint, Tei, model, &RemoteSettings { batch, ..settings.remote.clone() }).await
    }
}

impl Dialect for Tei {
    type Response = Vec<Vec<f32>>;

    fn path(&self) -> String {
        "embed".to_owned()
    }

    fn request(&self, texts: &[String]) -> Value {
        json!({ "inputs": texts, "truncate": true, "normalize": true })
    }

    fn vectors(&self, answer: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
        Ok(answer)
    }
}

/// The model together with its revision, where the server knows it: another revision makes other vectors.
fn name(info: Info) -> String {
    match info.model_sha {
        Some(revision) => format!("{}@{revision}", info.model_id),
        None => info.model_id,
    }
}

/// `{"embedding": {"pooling": "cls"}}`, or `{"reranker": …}` for a model that makes no vectors.
fn pooling(model_type: &Value) -> Result<Pooling, EmbedError> {
    if model_type.get("reranker").is_some() || model_type.get("classifier").is_some() {
        return Err(EmbedError::Model(
            "the server has one that scores texts and makes no vectors".to_owned(),
        ));
    }
    let named = model_type.pointer("/embedding/pooling").and_then(Value::as_str);
    Ok(match named {
        Some("cls") => Pooling::Cls,
        Some("mean") => Pooling::Mean,
        _ => Pooling::Remote,
    })
}
