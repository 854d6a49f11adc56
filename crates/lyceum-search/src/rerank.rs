//! The stage that puts the best hits into a better order, as long as its model answers in time.
//!
//! A search never fails because of it: [`RerankOutcome::Unavailable`] means the order that is there already.

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

/// How many hits are put in order.
pub const MAX_PASSAGES: usize = 20;

/// How many characters of a passage a reranker reads.
const MAX_PASSAGE_CHARS: usize = 8_000;

/// What the log calls it.
const RERANKER_LABEL: &str = "the reranker";

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum RerankOutcome {
    /// A score for each of the first [`MAX_PASSAGES`] passages, in their order; higher fits better.
    Scored(Vec<f32>),
    /// There are none, and why, for whoever asked.
    Unavailable(String),
}

/// A reranker with its cache and its limits.
#[derive(Debug)]
pub struct Rerank {
    reranker: Arc<dyn Reranker>,
    cache: Cache,
    budget: Duration,
    breaker: Mutex<CircuitBreaker>,
}

impl Rerank {
    /// A stage that waits so long for its reranker, at most, and keeps scores in that database.
    pub fn new(reranker: Arc<dyn Reranker>, db: Db, budget: Duration) -> Self {
        Self { reranker, cache: Cache::new(db), budget, breaker: Mutex::new(breaker::breaker()) }
    }

    /// Scores the first [`MAX_PASSAGES`] passages, the first 8,000 characters of each: from the cache, or with one request within
    /// the budget.
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
                let news = self.breaker().succeeded();
                breaker::report(news, RERANKER_LABEL, None);
                // It may have been made ready in between, and is known by another name then.
                let key = cache::key(self.reranker.identity(), query, &passages);
                self.cache.put(key, &scores, now);
                RerankOutcome::Scored(scores)
            }
            // Nothing has failed yet.
            Err(error @ RerankError::Loading) => RerankOutcome::Unavailable(reason(&error)),
            Err(error) => {
                let news = self.breaker().failed(Instant::now());
                breaker::report(news, RERANKER_LABEL, Some(&error));
                RerankOutcome::Unavailable(reason(&error))
            }
        }
    }

    /// Waits, for a few seconds at most, until all scores are kept. For the end, so that none is lost.
    pub async fn settle(&self) {
        self.cache.settle().await;
    }

    async fn score(
        &self,
        query: &str,
        passages: &[String],
        deadline: Instant,
    ) -> Result<Vec<f32>, RerankError> {
        let score = self.reranker.score(query, passages);
        let scores = timeout_at(deadline, score).await.unwrap_or(Err(RerankError::Late(self.budget)))?;
        if scores.len() != passages.len() || scores.iter().any(|score| !score.is_finite()) {
            return Err(RerankError::Malformed("not one number for each passage".to_owned()));
        }
        Ok(scores)
    }

    fn breaker(&self) -> std::sync::MutexGuard<'_, CircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there are no scores, without what only concerns whoever runs the server.
fn reason(error: &RerankError) -> String {
    match error {
        RerankError::Model(_) => "the reranker can't be used".to_owned(),
        RerankError::Unreachable(_) => "the reranker can't be reached".to_owned(),
        RerankError::Loading | RerankError::Late(_) => error.to_string(),
        RerankError::Refused { status, .. } => format!("the reranker refused (status {status})"),
        RerankError::Malformed(_) => "the reranker answered something else than scores".to_owned(),
    }
}

#[cfg(test)]
mod tests;
