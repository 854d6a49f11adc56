//! The reranking stage: rescores the top hits with a cross-encoder, within a time budget.
//!
//! A search never fails because of it: with [`RerankOutcome::Unavailable`] the hits keep their order.

mod cache;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use lyceum_content::knowledge::truncate;
use lyceum_models::reranker::{RerankError, Reranker};
use lyceum_net::CircuitBreaker;
use lyceum_store::Db;
use tokio::time::{Instant, timeout_at};

use crate::breaker::{self, OPEN_TIME};
use cache::Cache;

/// Maximum number of passages to rerank.
pub const MAX_PASSAGES: usize = 20;

/// Maximum length of a passage, in characters; longer ones are truncated.
const MAX_PASSAGE_CHARS: usize = 8_000;

/// Name of the reranker in log messages.
const RERANKER_LABEL: &str = "the reranker";

/// The outcome of reranking.
#[derive(Debug, Clone, PartialEq)]
pub enum RerankOutcome {
    /// A score for each of the first [`MAX_PASSAGES`] passages, in their order; higher is more relevant.
    Scored(Vec<f32>),
    /// No scores, with the reason for the caller.
    Unavailable(String),
}

/// A reranker with its cache, time budget and circuit breaker.
#[derive(Debug)]
pub struct Rerank {
    reranker: Arc<dyn Reranker>,
    cache: Cache,
    budget: Duration,
    breaker: Mutex<CircuitBreaker>,
}

impl Rerank {
    /// Creates the stage; `budget` limits each call, `db` holds the cache.
    pub fn new(reranker: Arc<dyn Reranker>, db: Db, budget: Duration) -> Self {
        Self { reranker, cache: Cache::new(db), budget, breaker: Mutex::new(breaker::breaker()) }
    }

    /// Scores the first [`MAX_PASSAGES`] passages, truncated to 8,000 characters each: from the cache, or with one
    /// request within the budget.
    pub async fn order(&self, query: &str, passages: &[String]) -> RerankOutcome {
        let passages: Vec<String> =
            passages.iter().take(MAX_PASSAGES).map(|passage| truncate(passage, MAX_PASSAGE_CHARS)).collect();
        if passages.is_empty() {
            return RerankOutcome::Scored(Vec::new());
        }
        let now = Timestamp::now();
        let deadline = Instant::now() + self.budget;
        let key = cache::key(self.reranker.identity(), query, &passages);
        if let Some(scores) = self.cache.get(&key, passages.len(), now, self.budget / 2).await {
            return RerankOutcome::Scored(scores);
        }
        if !self.breaker().allows(Instant::now()) {
            let pause = OPEN_TIME.as_secs();
            return RerankOutcome::Unavailable(format!(
                "the reranker keeps failing; the next attempt is in {pause} s"
            ));
        }
        match self.score(query, &passages, deadline).await {
            Ok(scores) => {
                let transition = self.breaker().succeeded();
                breaker::report(transition, RERANKER_LABEL, None);
                // The reranker's identity changes once it is loaded, so compute the key again.
                let key = cache::key(self.reranker.identity(), query, &passages);
                self.cache.put(key, &scores, now);
                RerankOutcome::Scored(scores)
            }
            // Loading is not a failure.
            Err(error @ RerankError::Loading) => RerankOutcome::Unavailable(reason(&error)),
            Err(error) => {
                let transition = self.breaker().failed(Instant::now());
                breaker::report(transition, RERANKER_LABEL, Some(&error));
                RerankOutcome::Unavailable(reason(&error))
            }
        }
    }

    /// Flushes cache writes, for a few seconds at most. For shutdown.
    pub async fn flush(&self) {
        self.cache.flush().await;
    }

    async fn score(
        &self,
        query: &str,
        passages: &[String],
        deadline: Instant,
    ) -> Result<Vec<f32>, RerankError> {
        let score = self.reranker.score(query, passages);
        let scores = timeout_at(deadline, score).await.unwrap_or(Err(RerankError::Timeout(self.budget)))?;
        if scores.len() != passages.len() || scores.iter().any(|score| !score.is_finite()) {
            return Err(RerankError::Malformed("not one finite score per passage".to_owned()));
        }
        Ok(scores)
    }

    fn breaker(&self) -> std::sync::MutexGuard<'_, CircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reason for the caller, without operator-only detail.
fn reason(error: &RerankError) -> String {
    match error {
        RerankError::Model(_) => "the reranker can't be used".to_owned(),
        RerankError::Unreachable(_) => "the reranker can't be reached".to_owned(),
        RerankError::Loading | RerankError::Timeout(_) => error.to_string(),
        RerankError::Refused { status, .. } => format!("the reranker refused (status {status})"),
        RerankError::Malformed(_) => "the reranker returned an invalid response".to_owned(),
    }
}

#[cfg(test)]
mod tests;
