//! Answers: a question, the candidates of words and of vectors, one order, and what is shown of each.

mod answer;
mod candidates;
mod stems;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use lyceum_models::embedder::{self, EmbedError, Identity, Purpose};
use serde::{Deserialize, Serialize};

use crate::{
    breaker::{self, PAUSE},
    error::Error,
    filling::ModelStatus,
    filter::Filter,
    lexical::Words,
    page::Facts,
    search::{Opened, Search},
};

use candidates::{Asked, Looked};

pub use answer::{Answer, Facets, Hit, Searched, Stages};

/// How long a question may be, in characters.
pub const LONGEST: usize = 2_000;

/// How many results there may be.
pub const MOST: usize = 20;

/// How many of each stage are looked at.
const CANDIDATES: usize = 100;

/// How long a question may take to become a vector.
const EMBEDDED_WITHIN: std::time::Duration = std::time::Duration::from_secs(3);

/// What the log calls the model.
const WHAT: &str = "the model";

/// Which stages are asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Words and meaning.
    #[default]
    Both,
    /// Words only.
    Words,
    /// Meaning only.
    Meaning,
}

/// A question.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The question itself.
    pub text: String,
    /// What may be found.
    pub filter: Filter,
    /// How many results are wanted.
    pub limit: usize,
    /// Which stages are asked.
    pub mode: Mode,
    /// Whether to count what else could be asked for.
    pub facets: bool,
}

/// A page in the order of a question, before any reranking.
#[derive(Debug, Clone)]
pub struct Ranked {
    /// The source it comes from.
    pub source: Arc<str>,
    /// What is known of it.
    pub facts: Arc<Facts>,
    /// The score that it is ordered by.
    pub score: f32,
}

impl Search {
    /// Finds the pages that answer a question best.
    pub async fn find(&self, query: Query) -> Result<Answer, Error> {
        let begun = Instant::now();
        let text = checked(&query.text)?.to_owned();
        let opened = self.opened().await?;
        let words = Words::of(&text);
        let mut looked = self.candidates(&opened, &text, &query, &words).await?;
        if looked.is_exchanged {
            // The model was exchanged between the two halves: once more, with the new one.
            looked = self.candidates(&opened, &text, &query, &words).await?;
        }
        answer::rerank(&opened, &text, &mut looked).await;
        Ok(answer::answer(&opened, &query, looked, begun.elapsed()))
    }

    /// The first so many candidates in their order, without anything to show and before any reranking; for evaluation,
    /// which looks further than callers do.
    pub async fn rank(&self, query: Query, depth: usize) -> Result<Vec<Ranked>, Error> {
        let text = checked(&query.text)?.to_owned();
        let opened = self.opened().await?;
        let (asked, _) = self.vector(&opened, &text, query.mode).await;
        let work = move || candidates::rank(&opened, &query, &Words::of(&text), asked.as_ref(), depth);
        self.at_its_turn(work).await
    }

    /// Runs what computes or reads on a thread where that is allowed, a few at once: with more of them nobody has an
    /// answer sooner.
    async fn at_its_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let failed = || Error::Closed("the search failed; the log says more".to_owned());
        let place = self.looking.clone().acquire_owned().await.map_err(|_| failed())?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.map_err(|_| failed())
    }

    /// Looks for candidates with both stages.
    async fn candidates(
        &self,
        opened: &Arc<Opened>,
        text: &str,
        query: &Query,
        words: &Words,
    ) -> Result<Looked, Error> {
        let (asked, degraded) = self.vector(opened, text, query.mode).await;
        let (opened, query, words) = (opened.clone(), query.clone(), words.clone());
        let work = move || candidates::look(&opened, &query, &words, asked.as_ref());
        let mut looked = self.at_its_turn(work).await??;
        looked.degraded.splice(0..0, degraded);
        Ok(looked)
    }

    /// The vector of a question, and why there is none or a poor one.
    async fn vector(&self, opened: &Opened, text: &str, mode: Mode) -> (Option<Asked>, Option<String>) {
        let without = match mode {
            Mode::Words => return (None, None),
            Mode::Both => "found by words only",
            Mode::Meaning => "meaning can't be searched",
        };
        let Some(active) = opened.active() else {
            let status = self.model.borrow().clone();
            let reason = match status {
                ModelStatus::Off => "no model is configured".to_owned(),
                ModelStatus::Preparing | ModelStatus::Ready => "the model is still being loaded".to_owned(),
                ModelStatus::Failed(failure) => failure.reason,
            };
            return (None, Some(format!("{without}: {reason}")));
        };
        let model = active.model;
        let key = (model, text.to_owned());
        if let Some(vector) = self.asked.get(&key) {
            return (Some(Asked { model, vector }), self.unembedded(model));
        }
        if !self.breaker().allows(tokio::time::Instant::now()) {
            let pause = PAUSE.as_secs();
            let reason = format!("the model keeps failing and is left alone for {pause} s");
            return (None, Some(format!("{without}: {reason}")));
        }
        let texts = [text.to_owned()];
        let embedding = active.embedder.embed(Purpose::Query, &texts);
        let embedded = tokio::time::timeout(EMBEDDED_WITHIN, embedding).await;
        let embedded = embedded.unwrap_or(Err(EmbedError::Late(EMBEDDED_WITHIN)));
        match embedded.and_then(|made| vector_of(active.embedder.identity(), made)) {
            Ok(vector) => {
                let news = self.breaker().succeeded();
                breaker::report(news, WHAT, None);
                self.asked.insert(key, vector.clone());
                (Some(Asked { model, vector }), self.unembedded(model))
            }
            Err(error) => {
                self.note(&error);
                (None, Some(format!("{without}: {}", error.reason())))
            }
        }
    }

    /// Takes note of a failure. One that may be the fault of the question says nothing about the next.
    fn note(&self, error: &EmbedError) {
        if error.may_be_the_text() {
            tracing::debug!(error.cause = %error, "a question could not be turned into a vector");
        } else {
            let news = self.breaker().failed(tokio::time::Instant::now());
            breaker::report(news, WHAT, Some(error));
        }
    }
}

impl Search {
    /// What an answer has to say of passages that have no vector yet. While vectors of another model are made beside those
    /// in use, nothing is wanting.
    fn unembedded(&self, used: i64) -> Option<String> {
        let count = self.unembedded.load(Ordering::Relaxed);
        (count > 0 && self.wanted.load(Ordering::Relaxed) == used)
            .then(|| format!("{count} passages are found by their words only, until the model has read them"))
    }
}

/// The one vector that was asked for.
fn vector_of(identity: &Identity, made: Vec<Vec<f32>>) -> Result<Arc<[f32]>, EmbedError> {
    let vector = embedder::checked(identity, 1, made)?.into_iter().next();
    vector.map(Arc::from).ok_or(EmbedError::WrongCount { asked: 1, got: 0 })
}

/// A question as it can be asked.
fn checked(text: &str) -> Result<&str, Error> {
    let text = text.trim();
    if !text.chars().any(|c| !c.is_whitespace() && !c.is_control()) {
        return Err(Error::Query("the query is empty; say what to look for".to_owned()));
    }
    if text.len() > 4 * LONGEST || text.chars().count() > LONGEST {
        let message = format!("the query is longer than {LONGEST} characters; ask with fewer words");
        return Err(Error::Query(message));
    }
    Ok(text)
}
