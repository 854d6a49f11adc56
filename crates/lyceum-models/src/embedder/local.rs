//! Embeddings by a local model. Each text is its own inference, so its vector does not depend on other texts of the
//! batch.

use std::{num::NonZero, path::Path, sync::Arc};

use async_trait::async_trait;
use futures::future::try_join_all;
use rten::ThreadPool;

use super::{EmbedError, Embedder, Identity, Pooling, Purpose, checked};
use crate::model::{
    Folder, ModelError,
    runtime::{Output, Runtime},
    worker_pool::{Priority, WorkerPool},
};

/// Output names used by published ONNX graphs. The first may be pooled already.
const OUTPUTS: &[&str] = &["sentence_embedding", "last_hidden_state", "token_embeddings", "output_0"];

/// Upper bound of characters per token, to truncate long texts before tokenization.
const CHARACTERS_PER_TOKEN: usize = 64;

/// A local embedding model.
#[derive(Debug)]
pub struct LocalEmbedder {
    identity: Identity,
    runtime: Arc<Runtime>,
    /// Separate pools, so that queries never wait for passages.
    query_pool: WorkerPool,
    passage_pool: WorkerPool,
}

impl LocalEmbedder {
    /// Loads the model in a folder, to run on `threads` threads. Blocks.
    pub fn open(folder: &Path, threads: usize) -> Result<Self, EmbedError> {
        Self::load(&Folder::open(folder)?, threads)
    }

    /// Loads the model of an open folder. Blocks.
    pub fn load(folder: &Folder, threads: usize) -> Result<Self, EmbedError> {
        let runtime = Runtime::load(folder, folder.max_tokens(), OUTPUTS)?;
        // A trial run verifies that the graph works and yields its dimensions.
        let trial = runtime.run(&Arc::new(ThreadPool::with_num_threads(1)), "lyceum")?;
        let dimensions = trial.shape.last().copied().unwrap_or(0);
        let identity = folder.identity(dimensions)?;
        checked(&identity, 1, vec![pooled(&trial, identity.pooling)?])?;
        Ok(Self {
            identity,
            runtime: Arc::new(runtime),
            query_pool: WorkerPool::new(threads, Priority::Interactive),
            passage_pool: WorkerPool::new(threads, Priority::Background),
        })
    }

    async fn vector(&self, purpose: Purpose, text: &str) -> Result<Vec<f32>, EmbedError> {
        let (pool, prefix) = match purpose {
            Purpose::Query => (&self.query_pool, &self.identity.query_prefix),
            Purpose::Passage => (&self.passage_pool, &self.identity.passage_prefix),
        };
        let text = format!("{prefix}{}", truncated(text, self.identity.max_tokens * CHARACTERS_PER_TOKEN));
        let (runtime, pooling) = (Arc::clone(&self.runtime), self.identity.pooling);
        let vector = pool.run(move |worker| pooled(&runtime.run(worker, text)?, pooling)).await;
        Ok(vector.ok_or_else(|| EmbedError::Model("inference was aborted".to_owned()))??)
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn embed(&self, purpose: Purpose, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = try_join_all(texts.iter().map(|text| self.vector(purpose, text))).await?;
        checked(&self.identity, texts.len(), vectors)
    }
}

impl From<ModelError> for EmbedError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::WrongDimensions { expected, got } => Self::WrongDimensions { expected, got },
            other => Self::Model(other.to_string()),
        }
    }
}

/// Pools the token vectors, unless the graph has pooled them already.
fn pooled(output: &Output, pooling: Pooling) -> Result<Vec<f32>, ModelError> {
    let unsupported = || ModelError::Unsupported(format!("an output of shape {:?}", output.shape));
    let (tokens, width) = match output.shape.as_slice() {
        [1, width] => return if *width > 0 { Ok(output.data.clone()) } else { Err(unsupported()) },
        [1, tokens, width] => (NonZero::new(*tokens).ok_or_else(unsupported)?, *width),
        _ => return Err(unsupported()),
    };
    let mut vectors = output.data.chunks_exact(width.max(1));
    match pooling {
        Pooling::Cls => vectors.next().map(<[f32]>::to_vec).ok_or_else(unsupported),
        Pooling::Mean | Pooling::Remote => {
            let sum = vectors.fold(vec![0.0; width], |mut sum, vector| {
                sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
                sum
            });
            let count = tokens.get() as f32;
            Ok(sum.into_iter().map(|x| x / count).collect())
        }
    }
}

/// Truncates a text to a number of characters.
fn truncated(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests;
