//! Fake endpoints, following the APIs' documentation, with a tiny model.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use crate::endpoint::peer::{KEY, ReceivedRequest, Reply};

/// Dimensions of the vectors.
pub(super) const DIMENSIONS: usize = 6;

/// Maximum batch size of the fake TEI server.
pub(super) const TEI_BATCH: usize = 32;

/// The handler of this kind of endpoint.
pub(super) fn valid_reply(kind: &str) -> fn(&ReceivedRequest) -> Reply {
    match kind {
        "openai" => openai,
        "ollama" => ollama,
        "tei" => tei,
        _ => workers_ai,
    }
}

/// The response body of this kind of endpoint.
pub(super) fn wire(kind: &str, vectors: &[Vec<f32>]) -> Value {
    match kind {
        "openai" => {
            // In reverse order, which the API allows.
            let numbered = vectors.iter().enumerate().rev();
            let data: Vec<Value> = numbered
                .map(|(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }))
                .collect();
            json!({ "object": "list", "data": data, "model": "good-model", "usage": { "total_tokens": 3 } })
        }
        "ollama" => json!({ "model": "good-model", "embeddings": vectors, "total_duration": 14 }),
        "tei" => json!(vectors),
        _ => {
            let shape = [vectors.len(), vectors.first().map_or(0, Vec::len)];
            let result = json!({ "shape": shape, "data": vectors, "pooling": "cls" });
            json!({ "result": result, "success": true, "errors": [], "messages": [] })
        }
    }
}

/// The vector of a text, not normalized.
pub(super) fn vector(text: &str) -> Vec<f32> {
    let number = |place: usize| {
        let mut hasher = DefaultHasher::new();
        (text, place).hash(&mut hasher);
        f32::from(u16::try_from(hasher.finish() % 2_000).unwrap()) - 1_000.5
    };
    (0..DIMENSIONS).map(number).collect()
}

/// The expected unit vector of a text.
pub(super) fn unit(text: &str) -> Vec<f32> {
    let vector = vector(text);
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

#[track_caller]
pub(super) fn assert_near(kind: &str, got: &[Vec<f32>], expected: &[Vec<f32>]) {
    assert_eq!(got.len(), expected.len(), "{kind}");
    for (got, expected) in got.iter().zip(expected) {
        let far = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(got.len() == expected.len() && far < 1e-5, "{kind}: {got:?} {expected:?}");
    }
}

/// The texts of a request of any API.
pub(super) fn texts_of(request: &ReceivedRequest) -> Vec<String> {
    let field = ["input", "inputs", "text"].into_iter().find_map(|name| request.body.get(name));
    serde_json::from_value(field.cloned().unwrap_or_default()).unwrap_or_default()
}

fn embedded(kind: &str, request: &ReceivedRequest) -> Reply {
    let vectors: Vec<Vec<f32>> = texts_of(request).iter().map(|text| vector(text)).collect();
    Reply::Json(wire(kind, &vectors))
}

fn refused(status: u16, message: &str) -> Reply {
    Reply::Status(status, Vec::new(), json!({ "error": message }).to_string())
}

fn has_key(request: &ReceivedRequest) -> bool {
    request.authorization == format!("Bearer {KEY}")
}

fn openai(request: &ReceivedRequest) -> Reply {
    let texts = texts_of(request);
    match request.path.as_str() {
        "/v1/embeddings" if !has_key(request) => refused(401, "Incorrect API key provided"),
        "/v1/embeddings" if request.body["model"] != "good-model" => refused(404, "no such model"),
        "/v1/embeddings" if request.body["encoding_format"] != "float" => refused(400, "no such format"),
        "/v1/embeddings" if texts.is_empty() || texts.contains(&String::new()) => {
            refused(400, "input must not be empty")
        }
        "/v1/embeddings" => embedded("openai", request),
        _ => refused(404, "Not Found"),
    }
}

fn ollama(request: &ReceivedRequest) -> Reply {
    match request.path.as_str() {
        _ if !has_key(request) => refused(401, "unauthorized"),
        "/api/embed" if request.body["model"] != "good-model" => {
            refused(404, "model not found, try pulling it")
        }
        "/api/embed" if request.body["truncate"] == true => embedded("ollama", request),
        _ => refused(404, "404 page not found"),
    }
}

fn tei(request: &ReceivedRequest) -> Reply {
    match request.path.as_str() {
        _ if !has_key(request) => refused(401, "Unauthorized"),
        "/info" => Reply::Json(json!({
            "model_id": "BAAI/bge-base-en-v1.5",
            "model_sha": "fca14538",
            "model_dtype": "float32",
            "model_type": { "embedding": { "pooling": "cls" } },
            "max_concurrent_requests": 512,
            "max_input_length": 384,
            "max_batch_tokens": 16384,
            "max_client_batch_size": TEI_BATCH,
            "version": "1.8.0",
        })),
        "/embed" if texts_of(request).len() > TEI_BATCH => {
            refused(413, "batch size > maximum allowed batch size")
        }
        "/embed" => embedded("tei", request),
        _ => refused(404, ""),
    }
}

fn workers_ai(request: &ReceivedRequest) -> Reply {
    let count = texts_of(request).len();
    match request.path.as_str() {
        _ if !has_key(request) => refused(401, "Authentication error"),
        "/client/v4/accounts/a1b2/ai/run/@cf/baai/bge-base-en-v1.5" if count > 100 => {
            refused(400, "maxItems")
        }
        "/client/v4/accounts/a1b2/ai/run/@cf/baai/bge-base-en-v1.5" if request.body["pooling"] == "cls" => {
            embedded("workers-ai", request)
        }
        _ => refused(404, "No route for that URI"),
    }
}
