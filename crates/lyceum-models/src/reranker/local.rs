//! A local cross-encoder, such as bge-reranker-base, with a time budget.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures::future::try_join_all;
use rten::ThreadPool;

use super::{RerankError, Reranker};
use crate::model::{
    Folder, ModelError,
    runtime::{Output, Runtime},
    worker_pool::{Priority, WorkerPool},
};

/// Maximum number of tokens of query and passage together.
const MAX_PAIR_TOKENS: usize = 256;
/// Upper bound of characters within those tokens, to truncate before tokenization.
const MAX_TEXT_CHARS: usize = MAX_PAIR_TOKENS * 64;

/// A local cross-encoder.
#[derive(Debug)]
pub struct LocalReranker {
    identity: String,
    runtime: Arc<Runtime>,
    pool: WorkerPool,
    budget: Duration,
}

impl LocalReranker {
    /// Loads the model in a folder, to run on `threads` threads within `budget` per search. Blocks.
    pub fn open(folder: &Path, threads: usize, budget: Duration) -> Result<Self, RerankError> {
        let folder = Folder::open(folder)?;
        let runtime =
            Runtime::load(&folder, MAX_PAIR_TOKENS.min(folder.max_tokens()), &["logits", "output_0"])?;
        let worker = Arc::new(ThreadPool::with_num_threads(1));
        score(&runtime.run(&worker, ("lyceum", "lyceum"))?)?;
        Ok(Self {
            identity: format!("local:{}:{}", folder.name(), folder.digest()),
            runtime: Arc::new(runtime),
            pool: WorkerPool::new(threads, Priority::Interactive),
            budget,
        })
    }

    async fn score_one(&self, query: &str, passage: &str, deadline: Instant) -> Result<f32, RerankError> {
        let (runtime, budget) = (Arc::clone(&self.runtime), self.budget);
        let pair = (truncated(query).to_owned(), truncated(passage).to_owned());
        let run = self.pool.run(move |worker| {
            if Instant::now() >= deadline {
                return Err(RerankError::Timeout(budget));
            }
            Ok(score(&runtime.run(worker, pair)?)?)
        });
        run.await.ok_or_else(|| RerankError::Model("inference was aborted".to_owned()))?
    }
}

#[async_trait]
impl Reranker for LocalReranker {
    fn identity(&self) -> &str {
        &self.identity
    }

    async fn score(&self, query: &str, passages: &[String]) -> Result<Vec<f32>, RerankError> {
        let deadline = Instant::now() + self.budget;
        let all = try_join_all(passages.iter().map(|passage| self.score_one(query, passage, deadline)));
        // The timeout drops the futures, which cancels queued work.
        tokio::time::timeout(self.budget, all).await.map_err(|_| RerankError::Timeout(self.budget))?
    }
}

impl From<ModelError> for RerankError {
    fn from(error: ModelError) -> Self {
        Self::Model(error.to_string())
    }
}

/// The score of a pair: the sigmoid of its logit.
fn score(output: &Output) -> Result<f32, ModelError> {
    match output.data.as_slice() {
        [logit] if logit.is_finite() => Ok(1.0 / (1.0 + (-logit).exp())),
        [_] => Err(ModelError::Unsupported("a score that is not finite".to_owned())),
        more => Err(ModelError::Unsupported(format!("a reranker with {} outputs", more.len()))),
    }
}

fn truncated(text: &str) -> &str {
    text.char_indices().nth(MAX_TEXT_CHARS).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests;
