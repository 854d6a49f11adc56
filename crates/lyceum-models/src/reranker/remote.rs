//! Shared by all rerank endpoints: one request for all passages, and validation.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{RerankError, Reranker};
use crate::endpoint::{Endpoint, Limits, sendable};

/// Maximum length of a query or passage, in characters; longer ones are truncated.
const MAX_TEXT_CHARS: usize = 8_000;

/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 8 << 20;

/// The API of one kind of endpoint. Pure: builds requests and parses responses.
pub trait Dialect: Send + Sync + fmt::Debug {
    /// The response body.
    type Response: DeserializeOwned + Send + 'static;

    /// Path below the base URL.
    fn path(&self) -> String;

    /// Builds the request body.
    fn request(&self, query: &str, passages: &[&str]) -> Value;

    /// Extracts (passage index, score) in any order, or returns what is wrong.
    fn scores(&self, response: Self::Response) -> Result<Vec<(usize, f32)>, String>;
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
    /// Creates a reranker. Sends nothing: an endpoint that is down now may be up at the first search.
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
        let inputs: Vec<&str> = passages.iter().map(|passage| sendable(passage, MAX_TEXT_CHARS)).collect();
        let request = self.dialect.request(sendable(query, MAX_TEXT_CHARS), &inputs);
        let limits = Limits { time: self.budget, bytes: MAX_RESPONSE_BYTES };
        let response = self.endpoint.post(&self.dialect.path(), &request, limits).await?;
        let scores = self.dialect.scores(response).and_then(|scores| in_order(passages.len(), &scores));
        scores.map_err(|why| RerankError::Malformed(self.endpoint.redact(&why)))
    }
}

/// Orders the scores by passage, and checks that each passage has exactly one finite score.
fn in_order(expected: usize, scores: &[(usize, f32)]) -> Result<Vec<f32>, String> {
    if scores.len() != expected {
        return Err(format!("{expected} passages were sent, but {} scores were returned", scores.len()));
    }
    let mut sorted = scores.to_vec();
    sorted.sort_by_key(|(index, _)| *index);
    if sorted.iter().enumerate().any(|(position, (index, _))| *index != position) {
        return Err("a score with an invalid or duplicate index".to_owned());
    }
    if sorted.iter().any(|(_, score)| !score.is_finite()) {
        return Err("a score that is not finite".to_owned());
    }
    Ok(sorted.into_iter().map(|(_, score)| score).collect())
}
