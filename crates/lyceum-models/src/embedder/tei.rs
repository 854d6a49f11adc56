//! text-embeddings-inference: `GET /info` reports the model, `POST /embed` embeds.

use lyceum_net::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    EmbedError, Pooling, RemoteSettings, TeiSettings,
    remote::{Dialect, Model, PASSAGE_LIMITS, Remote},
};
use crate::endpoint::Endpoint;

/// An embedder on a text-embeddings-inference server.
pub type TeiEmbedder = Remote<Tei>;

/// The text-embeddings-inference API.
#[derive(Debug)]
pub struct Tei;

/// Response of `GET /info`.
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
    /// Connects to the server's model.
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
        Self::probe(endpoint, Tei, model, &RemoteSettings { batch, ..settings.remote.clone() }).await
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

    fn vectors(&self, response: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, String> {
        Ok(response)
    }
}

/// Model name with its revision, if reported: another revision yields other vectors.
fn name(info: Info) -> String {
    match info.model_sha {
        Some(revision) => format!("{}@{revision}", info.model_id),
        None => info.model_id,
    }
}

/// Parses `{"embedding": {"pooling": "cls"}}`; `{"reranker": …}` is not an embedding model.
fn pooling(model_type: &Value) -> Result<Pooling, EmbedError> {
    if model_type.get("reranker").is_some() || model_type.get("classifier").is_some() {
        return Err(EmbedError::Model(
            "the server has a reranker or classifier, not an embedding model".to_owned(),
        ));
    }
    let pooling = model_type.pointer("/embedding/pooling").and_then(Value::as_str);
    Ok(match pooling {
        Some("cls") => Pooling::Cls,
        Some("mean") => Pooling::Mean,
        _ => Pooling::Remote,
    })
}
