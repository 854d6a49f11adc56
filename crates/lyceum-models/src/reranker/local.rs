//! Scores by a cross-encoder on this machine, such as bge-reranker-base, within the time that a search may wait.

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
    worker_pool::{Urgency, WorkerPool},
};

/// How many tokens of a question and a passage together are read.
const MAX_PAIR_TOKENS: usize = 256;
/// No more of a text than this can be within those tokens.
const MAX_TEXT_CHARS: usize = MAX_PAIR_TOKENS * 64;

/// A cross-encoder on this machine.
#[derive(Debug)]
pub struct LocalReranker {
    identity: String,
    runtime: Arc<Runtime>,
    lanes: WorkerPool,
    budget: Duration,
}

impl LocalReranker {
    /// Loads the model of a folder, to run on so many threads and no longer than `budget` for one search. Blocks.
    pub fn open(folder: &Path, threads: usize, budget: Duration) -> Result<Self, RerankError> {
        let folder = Folder::open(folder)?;
        let runtime =
            Runtime::load(&folder, MAX_PAIR_TOKENS.min(folder.max_tokens()), &["logits", "output_0"])?;
        let lane = Arc::new(ThreadPool::with_num_threads(1));
        score(&runtime.run(&lane, ("lyceum", "lyceum"))?)?;
        Ok(Self {
            identity: format!("local:{}:{}", folder.name(), folder.digest()),
            runtime: Arc::new(runtime),
            lanes: WorkerPool::new(threads, Urgency::Now),
            budget,
        })
    }

    async fn one(&self, query: &str, passage: &str, until: Instant) -> Result<f32, RerankError> {
        let (runtime, budget) = (Arc::clone(&self.runtime), self.budget);
        let pair = (beginning(query).to_owned(), beginning(passage).to_owned());
        let run = self.lanes.run(move |lane| {
            if Instant::now() >= until {
                return Err(RerankError::Late(budget));
            }
            Ok(score(&runtime.run(lane, pair)?)?)
        });
        run.await.ok_or_else(|| RerankError::Model("a run was broken off".to_owned()))?
    }
}

#[async_trait]
impl Reranker for LocalReranker {
    fn identity(&self) -> &str {
        &self.identity
    }

    async fn score(&self, query: &str, passages: &[String]) -> Result<Vec<f32>, RerankError> {
        let until = Instant::now() + self.budget;
        let all = try_join_all(passages.iter().map(|passage| self.one(query, passage, until)));
        // Dropping the rest gives up every turn that has not begun.
        tokio::time::timeout(self.budget, all).await.map_err(|_| RerankError::Late(self.budget))?
    }
}

impl From<ModelError> for RerankError {
    fn from(fault: ModelError) -> Self {
        Self::Model(fault.to_string())
    }
}

/// The one figure of a pair, between 0 and 1.
fn score(output: &Output) -> Result<f32, ModelError> {
    match output.data.as_slice() {
        [logit] if logit.is_finite() => Ok(1.0 / (1.0 + (-logit).exp())),
        [_] => Err(ModelError::Unsupported("a score that is not a number".to_owned())),
        more => Err(ModelError::Unsupported(format!("a reranker that gives {} figures", more.len()))),
    }
}

fn beginning(text: &str) -> &str {
    text.char_indices().nth(MAX_TEXT_CHARS).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests;
