//! Vectors of the skills that are ranked: computed in the background, cached by text on disk.
//!
//! Summaries come first. Until every ranked skill has the vector of its summary, ranking is lexical: scores with and
//! without vectors can't be compared. The bodies refine them once they are embedded too.

mod file;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use lyceum_models::embedder::{EmbedError, Embedder, Purpose};
use lyceum_search::{Connect, VectorTable};
use tokio_util::sync::CancellationToken;

use crate::{
    SkillSet, Skills,
    ranking::{Coverage, Passage, Ranker, TextHash},
};

/// The model that the thresholds of ranking are tuned for. Cosines of other models have another scale.
const CALIBRATED_MODEL: (&str, &str) = ("local", "all-MiniLM-L6-v2");

/// Texts per call of the model.
const BATCH: usize = 16;

/// Delay before another attempt to load the model.
const RETRY_DELAY: Duration = Duration::from_secs(60);

/// How long a task waits for its vector; then ranking is lexical.
const QUERY_TIMEOUT: Duration = Duration::from_secs(1);

/// A shared vector, quantized to int8.
type Vector = Arc<[u8]>;

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

    /// What of the ranked skills is embedded.
    pub(crate) fn coverage(&self, ranker: &Ranker) -> Coverage {
        if self.model().is_none() { Coverage::Nothing } else { self.filled(ranker) }
    }

    /// The cosine similarity of a task with each ranked skill; `None` until all have vectors, and if the model fails.
    pub(crate) async fn cosines(&self, ranker: &Ranker, task: &str) -> Option<Vec<f32>> {
        let model = self.model().filter(|_| !task.trim().is_empty())?;
        if self.filled(ranker) == Coverage::Nothing {
            return None;
        }
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
        ranker.cosines(&task)
    }

    fn model(&self) -> Option<Arc<dyn Embedder>> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the ranker has vectors of. Those of a new set are mostly known, since few skills change at a time.
    fn filled(&self, ranker: &Ranker) -> Coverage {
        if ranker.coverage() == Coverage::Nothing {
            self.fill(ranker);
        }
        ranker.coverage()
    }

    /// Hands the ranker the vectors that it lacks and that are known.
    fn fill(&self, ranker: &Ranker) {
        let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
        ranker.take_vectors(|hash| vectors.get(hash).map(AsRef::as_ref));
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

    /// Embeds what is missing, summaries first, and caches the vectors of this set; the number of texts.
    async fn complete(&self, skill_set: &SkillSet, model: &Arc<dyn Embedder>) -> Result<usize, EmbedError> {
        let ranker = &skill_set.ranker;
        self.fill(ranker);
        let mut count = 0;
        let parts: [Vec<&Passage>; 2] = [ranker.summaries().collect(), ranker.bodies().collect()];
        for part in parts {
            let missing = self.missing(&part);
            for batch in missing.chunks(BATCH) {
                let texts: Vec<String> = batch.iter().map(|passage| passage.text.clone()).collect();
                let vectors = model.embed(Purpose::Passage, &texts).await?;
                let vectors = vectors.iter().map(|vector| VectorTable::quantize(vector).into());
                self.add(batch.iter().map(|passage| passage.hash).zip(vectors));
            }
            if !missing.is_empty() {
                self.fill(ranker);
                self.save(ranker, model).await;
            }
            count += missing.len();
        }
        Ok(count)
    }

    fn missing<'a>(&self, passages: &[&'a Passage]) -> Vec<&'a Passage> {
        let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
        passages.iter().filter(|passage| !vectors.contains_key(&passage.hash)).copied().collect()
    }

    /// Writes the vectors of this set that are known; without them, the next start computes them again.
    async fn save(&self, ranker: &Ranker, model: &Arc<dyn Embedder>) {
        let Some(path) = self.file.clone() else { return };
        let entries: Vec<(TextHash, Vector)> = {
            let vectors = self.vectors.read().unwrap_or_else(PoisonError::into_inner);
            let passages = ranker.summaries().chain(ranker.bodies());
            passages.filter_map(|passage| Some((passage.hash, vectors.get(&passage.hash)?.clone()))).collect()
        };
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
