//! Endpoints as their documentation describes them, with a tiny model.

use serde_json::{Value, json};

use crate::endpoint::peer::{KEY, ReceivedRequest, Reply};

/// A peer of this kind.
pub(super) fn honest(kind: &str) -> fn(&ReceivedRequest) -> Reply {
    match kind {
        "workers-ai" => workers_ai,
        "tei" => tei,
        "cohere" => cohere,
        _ => voyage,
    }
}

/// The score of a passage: its first eight thousand characters count, and nothing is not sent.
pub(super) fn score(passage: &str) -> f32 {
    let seen = passage.chars().take(8_000).count().max(1);
    1.0 / f32::from(u16::try_from(seen).unwrap())
}

/// Scores as they are on the wire of this kind.
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

/// The best first, as all of them answer.
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

fn is_asked(asked: &ReceivedRequest, path: &str, fields: &[&str]) -> bool {
    let body = asked.body.as_object().unwrap();
    // A field that is not known is refused by some of them, so none may be there.
    asked.path == path
        && asked.authorization == format!("Bearer {KEY}")
        && body.len() == fields.len()
        && fields.iter().all(|field| body.contains_key(*field))
        && body["query"] == "hook"
}

fn workers_ai(asked: &ReceivedRequest) -> Reply {
    let path = "/accounts/a1b2/ai/run/@cf/baai/bge-reranker-base";
    if !is_asked(asked, path, &["query", "contexts", "top_k"]) {
        return refused(400);
    }
    let passages = asked.body["contexts"].as_array().unwrap();
    let whole = asked.body["top_k"] == passages.len() && passages.iter().all(|one| one["text"] != "");
    if whole { scored("workers-ai", passages) } else { refused(400) }
}

fn tei(asked: &ReceivedRequest) -> Reply {
    if !is_asked(asked, "/rerank", &["query", "texts", "truncate", "raw_scores"]) {
        return refused(422);
    }
    scored("tei", asked.body["texts"].as_array().unwrap())
}

fn cohere(asked: &ReceivedRequest) -> Reply {
    documents("cohere", asked)
}

fn voyage(asked: &ReceivedRequest) -> Reply {
    documents("voyage", asked)
}

fn documents(kind: &str, asked: &ReceivedRequest) -> Reply {
    if !is_asked(asked, "/v2/rerank", &["model", "query", "documents"]) || asked.body["model"] != "rerank-v3"
    {
        return refused(400);
    }
    scored(kind, asked.body["documents"].as_array().unwrap())
}
