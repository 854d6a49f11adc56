//! Vectors of the skills that are ranked: computed in the background, cached by text on disk.
//!
//! Until every ranked skill has its vector, ranking is lexical: scores with and without vectors can't be compared.

mod file;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use lyceum_models::embedder::{EmbedError, Embedder, Purpose};
use lyceum_search::Connect;
use tokio_util::sync::CancellationToken;

use crate::{
    SkillSet, Skills,
    ranking::{Ranker, SkillText, TextHash},
};

/// The model that the thresholds of ranking are tuned for. Cosines of other models have another scale.
const CALIBRATED_MODEL: (&str, &str) = ("local", "all-MiniLM-L6-v2");

/// Texts per call of the model.
const BATCH: usize = 16;

/// Delay before another attempt to load the model.
const RETRY_DELAY: Duration = Duration::from_secs(60);

/// How long a task waits for its vector; then ranking is lexical.
const QUERY_TIMEOUT: Duration = Duration::from_secs(1);

/// A shared vector.
type Vector = Arc<[f32]>;

/// Vectors by text, and the model that computes them.
#[derive(Debug, Default)]
pub(crate) struct Embedding {
    model: RwLock<Option<Arc<dyn Embedder>>>,
    vectors: RwLock<HashMap<TextHash, Vector>>,
    /// Where vectors are cached for the next start.
    file: Option<PathBuf>,
}

impl Embedding {
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Whether every ranked skill of the set has its vector.
    pub(crate) fn is_complete(&self, ranker: &Ranker) -> bool {
        self.model().is_some() && self.vectors_of(ranker).is_some()
    }

    /// The cosine similarity of a task with each ranked skill; `None` until all have vectors, and if the model fails.
    pub(crate) async fn cosines(&self, ranker: &Ranker, task: &str) -> Option<Vec<f32>> {
        let model = self.model().filter(|_| !ranker.is_empty() && !task.trim().is_empty())?;
        let vectors = self.vectors_of(ranker)?;
        let texts = [task.to_owned()];
        let embedded = tokio::time::timeout(QUERY_TIMEOUT, model.embed(Purpose::Query, &texts)).await;
        let task = match embedded {
            Ok(Ok(vectors)) => vectors.into_iter().next()?,
            Ok(Err(error)) => {
                tracing::warn!(error.cause = %error, "could not embed the task; ranking skills lexically");
                return None;
            }
            Err(_timeout) => return None,
        };
        let cosine = |vector: &Vector| vector.iter().zip(&task).map(|(one, other)| one * other).sum();
        Some(vectors.iter().map(cosine).collect())
    }

    fn model(&self) -> Option<Arc<dyn Embedder>> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn vectors_of(&self, ranker: &Ranker) -> Option<Vec<Vector>> {
        let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
        ranker.texts().iter().map(|text| vectors.get(&text.hash).cloned()).collect()
    }

    fn missing(&self, ranker: &Ranker) -> Vec<Arc<SkillText>> {
        let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
        ranker.texts().iter().filter(|text| !vectors.contains_key(&text.hash)).cloned().collect()
    }

    fn add(&self, vectors: impl IntoIterator<Item = (TextHash, Vector)>) {
        self.vectors.write().unwrap_or_else(PoisonError::into_inner).extend(vectors);
    }

    /// Loads the model, and the vectors that it computed before.
    async fn connect(
        &self,
        connect: &Connect,
        settings: &str,
    ) -> Result<Option<Arc<dyn Embedder>>, EmbedError> {
        if let Some(model) = self.model() {
            return Ok(Some(model));
        }
        let model = connect(settings.to_owned()).await?;
        let identity = model.identity();
        if (identity.kind.as_str(), identity.name.as_str()) != CALIBRATED_MODEL {
            return Ok(None);
        }
        if let Some(file) = self.file.clone() {
            let identity = identity.clone();
            let read = tokio::task::spawn_blocking(move || file::read(&file, &identity)).await;
            self.add(read.unwrap_or_default());
        }
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Some(model.clone());
        Ok(Some(model))
    }

    /// Embeds what is missing, and caches the vectors of this set.
    async fn complete(&self, skill_set: &SkillSet, model: &Arc<dyn Embedder>) -> Result<usize, EmbedError> {
        let missing = self.missing(&skill_set.ranker);
        for batch in missing.chunks(BATCH) {
            let texts: Vec<String> = batch.iter().map(|text| text.passage.clone()).collect();
            let vectors = model.embed(Purpose::Passage, &texts).await?;
            self.add(batch.iter().map(|text| text.hash).zip(vectors.into_iter().map(Vector::from)));
        }
        if !missing.is_empty() {
            self.save(skill_set, model).await;
        }
        Ok(missing.len())
    }

    /// Writes the vectors of this set; without them, the next start computes them again.
    async fn save(&self, skill_set: &SkillSet, model: &Arc<dyn Embedder>) {
        let (Some(path), Some(vectors)) = (self.file.clone(), self.vectors_of(&skill_set.ranker)) else {
            return;
        };
        let hashes = skill_set.ranker.texts().iter().map(|text| text.hash);
        let entries: Vec<(TextHash, Vector)> = hashes.zip(vectors).collect();
        let identity = model.identity().clone();
        let written = tokio::task::spawn_blocking(move || file::write(&path, &identity, &entries)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(error.cause = %error, "could not cache the vectors of skills");
        }
    }
}

impl Skills {
    /// Embeds the skills that are ranked, whenever they change, until stopped.
    pub async fn keep_embedded(self: Arc<Self>, connect: Connect, settings: String, stop: CancellationToken) {
        let work = async {
            let mut state = self.state();
            loop {
                let skill_set = state.borrow_and_update().skill_set.clone();
                let ranked = skill_set.filter(|skill_set| !skill_set.ranker.is_empty());
                let retry = match ranked {
                    Some(skill_set) => self.embed(&skill_set, &connect, &settings).await,
                    None => None,
                };
                let changed = state.changed();
                let is_over = match retry {
                    Some(delay) => tokio::time::timeout(delay, changed).await.is_ok_and(|one| one.is_err()),
                    None => changed.await.is_err(),
                };
                if is_over {
                    return;
                }
            }
        };
        stop.run_until_cancelled(work).await;
    }

    /// Embeds what is missing; the delay before another attempt, if it failed.
    async fn embed(&self, skill_set: &SkillSet, connect: &Connect, settings: &str) -> Option<Duration> {
        let embedded = async {
            let Some(model) = self.embedding.connect(connect, settings).await? else { return Ok(None) };
            self.embedding.complete(skill_set, &model).await.map(Some)
        };
        match embedded.await {
            Ok(Some(texts)) => {
                tracing::info!(source.name = %self.name, texts, "get_skill ranks by BM25 and vectors");
                None
            }
            Ok(None) => {
                tracing::info!(source.name = %self.name, "get_skill ranks by BM25 alone: its thresholds are for the built-in model");
                None
            }
            Err(error) => {
                tracing::warn!(source.name = %self.name, error.cause = %error, "could not embed skills; get_skill ranks by BM25 alone, retrying");
                Some(RETRY_DELAY)
            }
        }
    }
}
