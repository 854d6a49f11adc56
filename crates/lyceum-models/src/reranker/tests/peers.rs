//! Fake endpoints, following the APIs' documentation, with a tiny model.

use serde_json::{Value, json};

use crate::endpoint::peer::{KEY, ReceivedRequest, Reply};

/// The handler of this kind of endpoint.
pub(super) fn valid_reply(kind: &str) -> fn(&ReceivedRequest) -> Reply {
    match kind {
        "workers-ai" => workers_ai,
        "tei" => tei,
        "cohere" => cohere,
        _ => voyage,
    }
}

/// The score of a passage: only the first 8,000 characters count, and an empty text is replaced.
pub(super) fn score(passage: &str) -> f32 {
    let seen = passage.chars().take(8_000).count().max(1);
    1.0 / f32::from(u16::try_from(seen).unwrap())
}

/// The response body of this kind of endpoint.
pub(super) fn wire(kind: &str, scores: &[(i64, Value)]) -> Value {
    let items = |index: &str, score: &str| -> Vec<Value> {
        scores.iter().map(|(place, value)| json!({ index: place, score: value })).collect()
    };
    match kind {
        "workers-ai" => {
            json!({ "result": { "response": items("id", "score") }, "success": true, "errors": [], "messages": [] })
        }
        "tei" => json!(items("index", "score")),
        "cohere" => json!({ "id": "x", "results": items("index", "relevance_score"), "meta": {} }),
        _ => json!({ "object": "list", "data": items("index", "relevance_score"), "model": "rerank-v3" }),
    }
}

/// Best first, as all APIs reply.
fn scored(kind: &str, passages: &[Value]) -> Reply {
    let texts = passages.iter().map(|passage| passage["text"].as_str().or(passage.as_str()).unwrap());
    let mut scores: Vec<(i64, f32)> = (0..).zip(texts.map(score)).collect();
    scores.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let scores: Vec<(i64, Value)> = scores.into_iter().map(|(place, score)| (place, json!(score))).collect();
    Reply::Json(wire(kind, &scores))
}

fn refused(status: u16) -> Reply {
    Reply::Status(status, Vec::new(), json!({ "message": "no" }).to_string())
}

fn is_valid(request: &ReceivedRequest, path: &str, fields: &[&str]) -> bool {
    let body = request.body.as_object().unwrap();
    // Some APIs reject unknown fields, so there must be no others.
    request.path == path
        && request.authorization == format!("Bearer {KEY}")
        && body.len() == fields.len()
        && fields.iter().all(|field| body.contains_key(*field))
        && body["query"] == "hook"
}

fn workers_ai(request: &ReceivedRequest) -> Reply {
    let path = "/accounts/a1b2/ai/run/@cf/baai/bge-reranker-base";
    if !is_valid(request, path, &["query", "contexts", "top_k"]) {
        return refused(400);
    }
    let passages = request.body["contexts"].as_array().unwrap();
    let is_complete = request.body["top_k"] == passages.len() && passages.iter().all(|one| one["text"] != "");
    if is_complete { scored("workers-ai", passages) } else { refused(400) }
}

fn tei(request: &ReceivedRequest) -> Reply {
    if !is_valid(request, "/rerank", &["query", "texts", "truncate", "raw_scores"]) {
        return refused(422);
    }
    scored("tei", request.body["texts"].as_array().unwrap())
}

fn cohere(request: &ReceivedRequest) -> Reply {
    documents("cohere", request)
}

fn voyage(request: &ReceivedRequest) -> Reply {
    documents("voyage", request)
}

fn documents(kind: &str, request: &ReceivedRequest) -> Reply {
    if !is_valid(request, "/v2/rerank", &["model", "query", "documents"])
        || request.body["model"] != "rerank-v3"
    {
        return refused(400);
    }
    scored(kind, request.body["documents"].as_array().unwrap())
}
