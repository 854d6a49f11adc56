//! The query pipeline: candidates of the lexical and the vector index, fusion, reranking, snippets.

mod candidates;
mod merge;
mod result;
mod stems;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use lyceum_models::embedder::{self, EmbedError, Identity, Purpose};
use serde::{Deserialize, Serialize};
use tracing::Span;

use crate::{
    breaker::{self, OPEN_TIME},
    embed_queue::ModelStatus,
    error::Error,
    filter::Filter,
    lexical::ParsedQuery,
    page::Facts,
    search::{OpenIndex, Search},
};

use candidates::{Candidates, QueryVector};

pub use merge::{IndexResult, MergedResult, merge};
pub use result::{Facets, Hit, IndexCoverage, QueryResult, Stages};

/// Maximum length of a query, in characters.
pub const MAX_QUERY_CHARS: usize = 2_000;

/// Maximum number of results.
pub const MAX_RESULTS: usize = 20;

/// Number of candidates per stage.
const MAX_CANDIDATES: usize = 100;

/// Deadline for embedding a query.
const EMBED_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(3);

/// Name of the model in log messages.
const MODEL_LABEL: &str = "the model";

/// The search mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Hybrid: BM25 and embeddings.
    #[default]
    Hybrid,
    /// BM25 only.
    Lexical,
    /// Embeddings only.
    Vector,
}

/// A query.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The text of the query.
    pub text: String,
    /// Filters.
    pub filter: Filter,
    /// Maximum number of results.
    pub limit: usize,
    /// The search mode.
    pub mode: Mode,
    /// Whether to count facets.
    pub facets: bool,
}

/// A page in rank order, before reranking.
#[derive(Debug, Clone)]
pub struct RankedPage {
    /// The source it comes from.
    pub source: Arc<str>,
    /// Its metadata.
    pub facts: Arc<Facts>,
    /// The fused score.
    pub score: f32,
}

impl Search {
    /// Runs a query.
    pub async fn find(&self, query: Query) -> Result<QueryResult, Error> {
        let started = Instant::now();
        let text = checked(&query.text)?.to_owned();
        let opened = self.opened().await?;
        let parsed = ParsedQuery::of(&text);
        let mut candidates = self.candidates(&opened, &text, &query, &parsed).await?;
        if candidates.model_changed {
            // The model was switched after the query was embedded: retry once with the new model.
            candidates = self.candidates(&opened, &text, &query, &parsed).await?;
        }
        result::rerank(&opened, &text, &mut candidates).await;
        Ok(result::query_result(&opened, &query, candidates, started.elapsed()))
    }

    /// Ranks the first `depth` candidates without snippets or reranking. For evaluation, which looks further than
    /// callers do.
    pub async fn rank(&self, query: Query, depth: usize) -> Result<Vec<RankedPage>, Error> {
        let text = checked(&query.text)?.to_owned();
        let opened = self.opened().await?;
        let (query_vector, _) = self.vector(&opened, &text, query.mode).await;
        let work =
            move || candidates::rank(&opened, &query, &ParsedQuery::of(&text), query_vector.as_ref(), depth);
        self.run_limited(work).await
    }

    /// The IDF mass of a query: the sum of the weights of its terms, whether documents contain them or not. Makes BM25
    /// scores of several indexes comparable ([`merge`]); 0 while there is no lexical index.
    pub async fn idf_mass(&self, text: &str) -> Result<f32, Error> {
        let parsed = ParsedQuery::of(checked(text)?);
        let lexical = self.opened().await?.lexical();
        let Some(lexical) = lexical else { return Ok(0.0) };
        let mass = self.run_limited(move || lexical.idf_mass(&parsed)).await?;
        Ok(mass.unwrap_or_else(|error| {
            tracing::warn!(error.cause = %error, "could not read term frequencies of the lexical index");
            0.0
        }))
    }

    /// Runs CPU-bound or blocking work on a blocking thread, with limited concurrency: more threads would not return any
    /// result sooner.
    async fn run_limited<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let failed = || Error::Closed("the search failed; see the log".to_owned());
        let permit = self.query_permits.clone().acquire_owned().await.map_err(|_| failed())?;
        let span = Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let done = span.in_scope(work);
            drop(permit);
            done
        });
        done.await.map_err(|_| failed())
    }

    /// Embeds the query and retrieves the candidates of both stages.
    async fn candidates(
        &self,
        opened: &Arc<OpenIndex>,
        text: &str,
        query: &Query,
        parsed: &ParsedQuery,
    ) -> Result<Candidates, Error> {
        let (query_vector, degraded) = self.vector(opened, text, query.mode).await;
        let (opened, query, parsed) = (opened.clone(), query.clone(), parsed.clone());
        let work = move || candidates::retrieve(&opened, &query, &parsed, query_vector.as_ref());
        let mut candidates = self.run_limited(work).await??;
        candidates.degraded.splice(0..0, degraded);
        Ok(candidates)
    }

    /// Embeds a query. Also returns the reason if there is no vector or coverage is incomplete.
    async fn vector(
        &self,
        opened: &OpenIndex,
        text: &str,
        mode: Mode,
    ) -> (Option<QueryVector>, Option<String>) {
        let fallback = match mode {
            Mode::Lexical => return (None, None),
            Mode::Hybrid => "lexical results only",
            Mode::Vector => "vector search is not available",
        };
        let Some(active) = opened.active() else {
            let status = self.model.borrow().clone();
            let reason = match status {
                ModelStatus::Off => "no model is configured".to_owned(),
                ModelStatus::Preparing | ModelStatus::Ready => "the model is still being loaded".to_owned(),
                ModelStatus::Failed(failure) => failure.reason,
            };
            return (None, Some(format!("{fallback}: {reason}")));
        };
        let model = active.model;
        let key = (model, text.to_owned());
        if let Some(vector) = self.query_vectors.get(&key) {
            return (Some(QueryVector { model, vector }), self.unembedded(model));
        }
        if !self.breaker().allows(tokio::time::Instant::now()) {
            let pause = OPEN_TIME.as_secs();
            let reason = format!("the model keeps failing; the next attempt is in {pause} s");
            return (None, Some(format!("{fallback}: {reason}")));
        }
        let texts = [text.to_owned()];
        let embedding = active.embedder.embed(Purpose::Query, &texts);
        let embedded = tokio::time::timeout(EMBED_TIMEOUT, embedding).await;
        let embedded = embedded.unwrap_or(Err(EmbedError::Timeout(EMBED_TIMEOUT)));
        match embedded.and_then(|vectors| vector_of(active.embedder.identity(), vectors)) {
            Ok(vector) => {
                let transition = self.breaker().succeeded();
                breaker::report(transition, MODEL_LABEL, None);
                self.query_vectors.insert(key, vector.clone());
                (Some(QueryVector { model, vector }), self.unembedded(model))
            }
            Err(error) => {
                self.record_failure(&error);
                (None, Some(format!("{fallback}: {}", error.reason())))
            }
        }
    }

    /// Records a failure in the breaker, unless the query text may be the cause.
    fn record_failure(&self, error: &EmbedError) {
        if error.may_be_the_input() {
            tracing::debug!(error.cause = %error, "could not embed a query");
        } else {
            let transition = self.breaker().failed(tokio::time::Instant::now());
            breaker::report(transition, MODEL_LABEL, Some(error));
        }
    }
}

impl Search {
    /// A note for the result if chunks have no vector yet. None during a model switch: then the vectors in use are
    /// complete.
    fn unembedded(&self, used: i64) -> Option<String> {
        let count = self.unembedded.load(Ordering::Relaxed);
        (count > 0 && self.target_model.load(Ordering::Relaxed) == used)
            .then(|| format!("{count} chunks have no embedding yet; they are found by lexical search only"))
    }
}

/// Validates the embedder's response and extracts the one vector.
fn vector_of(identity: &Identity, vectors: Vec<Vec<f32>>) -> Result<Arc<[f32]>, EmbedError> {
    let vector = embedder::checked(identity, 1, vectors)?.into_iter().next();
    vector.map(Arc::from).ok_or(EmbedError::WrongCount { expected: 1, got: 0 })
}

/// Validates the text of a query.
fn checked(text: &str) -> Result<&str, Error> {
    let text = text.trim();
    if !text.chars().any(|c| !c.is_whitespace() && !c.is_control()) {
        return Err(Error::Query("the query is empty; give some text to search for".to_owned()));
    }
    if text.len() > 4 * MAX_QUERY_CHARS || text.chars().count() > MAX_QUERY_CHARS {
        let message = format!("the query is longer than {MAX_QUERY_CHARS} characters; shorten it");
        return Err(Error::Query(message));
    }
    Ok(text)
}
