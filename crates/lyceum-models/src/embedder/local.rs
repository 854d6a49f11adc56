//! Vectors by a model on this machine. One text is one run: its vector does not depend on the texts beside it.

use std::{num::NonZero, path::Path, sync::Arc};

use async_trait::async_trait;
use futures::future::try_join_all;
use rten::ThreadPool;

use super::{EmbedError, Embedder, Identity, Pooling, Purpose, checked};
use crate::model::{
    Folder, ModelError,
    runtime::{Output, Runtime},
    worker_pool::{Urgency, WorkerPool},
};

/// What the graphs of hubs call their answer. The first two may be the vector of the text already.
const OUTPUTS: &[&str] = &["sentence_embedding", "last_hidden_state", "token_embeddings", "output_0"];

/// No more of a text than this can be within the tokens that a model sees; the rest needs not be looked at.
const CHARACTERS_PER_TOKEN: usize = 64;

/// A model on this machine.
#[derive(Debug)]
pub struct LocalEmbedder {
    identity: Identity,
    runtime: Arc<Runtime>,
    /// Questions never wait for passages.
    questions: WorkerPool,
    passages: WorkerPool,
}

impl LocalEmbedder {
    /// Loads the model of a folder, to run on so many threads. Reads the whole model, so it blocks.
    pub fn open(folder: &Path, threads: usize) -> Result<Self, EmbedError> {
        Self::load(&Folder::open(folder)?, threads)
    }

    /// Loads a model whose folder is open. Blocks.
    pub fn load(folder: &Folder, threads: usize) -> Result<Self, EmbedError> {
        let runtime = Runtime::load(folder, folder.max_tokens(), OUTPUTS)?;
        // A first run shows that the graph works at all, and how long its vectors are.
        let trial = runtime.run(&Arc::new(ThreadPool::with_num_threads(1)), "lyceum")?;
        let dimensions = trial.shape.last().copied().unwrap_or(0);
        let identity = folder.identity(dimensions)?;
        checked(&identity, 1, vec![pooled(&trial, identity.pooling)?])?;
        Ok(Self {
            identity,
            runtime: Arc::new(runtime),
            questions: WorkerPool::new(threads, Urgency::Now),
            passages: WorkerPool::new(threads, Urgency::Background),
        })
    }

    async fn vector(&self, purpose: Purpose, text: &str) -> Result<Vec<f32>, EmbedError> {
        let (lanes, prefix) = match purpose {
            Purpose::Query => (&self.questions, &self.identity.query_prefix),
            Purpose::Passage => (&self.passages, &self.identity.passage_prefix),
        };
        let text = format!("{prefix}{}", beginning(text, self.identity.max_tokens * CHARACTERS_PER_TOKEN));
        let (runtime, pooling) = (Arc::clone(&self.runtime), self.identity.pooling);
        let vector = lanes.run(move |lane| pooled(&runtime.run(lane, text)?, pooling)).await;
        Ok(vector.ok_or_else(|| EmbedError::Model("a run was broken off".to_owned()))??)
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
    fn from(fault: ModelError) -> Self {
        match fault {
            ModelError::WrongDimensions { expected, got } => Self::WrongDimensions { expected, got },
            other => Self::Model(other.to_string()),
        }
    }
}

/// One vector out of those of the tokens; a graph that pools by itself gave it already.
fn pooled(output: &Output, pooling: Pooling) -> Result<Vec<f32>, ModelError> {
    let unknown = || ModelError::Unsupported(format!("an answer of the shape {:?}", output.shape));
    let (tokens, width) = match output.shape.as_slice() {
        [1, width] => return if *width > 0 { Ok(output.data.clone()) } else { Err(unknown()) },
        [1, tokens, width] => (NonZero::new(*tokens).ok_or_else(unknown)?, *width),
        _ => return Err(unknown()),
    };
    let mut vectors = output.data.chunks_exact(width.max(1));
    match pooling {
        Pooling::Cls => vectors.next().map(<[f32]>::to_vec).ok_or_else(unknown),
        // The length is made one later, so that the sum is as good as the mean.
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

/// The first characters of a text.
fn beginning(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

#[cfg(test)]
mod tests;
