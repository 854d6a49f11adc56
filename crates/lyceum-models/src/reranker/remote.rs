//! What all rerank endpoints have in common: one request for all passages, and a look at what comes back.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{RerankError, Reranker};
use crate::endpoint::{Endpoint, Limits, sendable};

/// How many characters of a question or a passage are sent.
const MAX_TEXT_CHARS: usize = 8_000;

/// How large an answer may be.
const MAX_RESPONSE_BYTES: usize = 8 << 20;

/// How one kind of endpoint is spoken to. Pure: what is sent, and what the answer means.
pub trait Dialect: Send + Sync + fmt::Debug {
    /// The answer as it is on the wire.
    type Response: DeserializeOwned + Send + 'static;

    /// Where to ask, below the address of the endpoint.
    fn path(&self) -> String;

    /// The request for these passages.
    fn request(&self, query: &str, passages: &[&str]) -> Value;

    /// Which passage has which score, in any order, or what is wrong with the answer.
    fn scores(&self, answer: Self::Response) -> Result<Vec<(usize, f32)>, String>;
}

/// A reranker behind an endpoint.
#[derive(Debug)]
pub struct Remote<D> {
    endpoint: Endpoint,
    dialect: D,
    identity: String,
    budget: Duration,
}

impl<D: Dialect> Remote<D> {
    /// Gets ready. Nothing is sent: a reranker that is down now may be there at the first search.
    pub(super) fn new(endpoint: Endpoint, dialect: D, identity: String, budget: Duration) -> Self {
        Self { endpoint, dialect, identity, budget }
    }
}

#[async_trait]
impl<D: Dialect> Reranker for Remote<D> {
    fn identity(&self) -> &str {
        &self.identity
    }

    async fn score(&self, query: &str, passages: &[String]) -> Result<Vec<f32>, RerankError> {
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        let sent: Vec<&str> = passages.iter().map(|passage| sendable(passage, MAX_TEXT_CHARS)).collect();
        let request = self.dialect.request(sendable(query, MAX_TEXT_CHARS), &sent);
        let limits = Limits { time: self.budget, bytes: MAX_RESPONSE_BYTES };
        let answer = self.endpoint.post(&self.dialect.path(), &request, limits).await?;
        let scores = self.dialect.scores(answer).and_then(|scores| in_order(passages.len(), &scores));
        scores.map_err(|why| RerankError::Malformed(self.endpoint.redact(&why)))
    }
}

/// The scores in the order of the passages: each passage exactly once, each score a number.
fn in_order(expected: usize, scores: &[(usize, f32)]) -> Result<Vec<f32>, String> {
    if scores.len() != expected {
        return Err(format!("{expected} passages were sent and {} scores came back", scores.len()));
    }
    let mut sorted = scores.to_vec();
    sorted.sort_by_key(|(index, _)| *index);
    if sorted.iter().enumerate().any(|(place, (index, _))| *index != place) {
        return Err("a score that belongs to no passage, or two that belong to one".to_owned());
    }
    if sorted.iter().any(|(_, score)| !score.is_finite()) {
        return Err("a score that is no number".to_owned());
    }
    Ok(sorted.into_iter().map(|(_, score)| score).collect())
}
