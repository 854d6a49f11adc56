//! Answers: a question, the candidates of words and of vectors, one order, and what is shown of each.

mod answer;
mod candidates;

use std::{sync::Arc, time::Instant};

use serde::{Deserialize, Serialize};

use crate::{
    embedder::Purpose,
    error::Error,
    filling::ModelStatus,
    filter::Filter,
    lexical::Words,
    page::Facts,
    search::{Opened, Search},
};

pub use answer::{Answer, Facets, Hit, Searched, Stages};

/// How long a question may be, in characters.
pub const LONGEST: usize = 2_000;

/// How many results there may be.
pub const MOST: usize = 20;

/// How many of each stage are looked at.
const CANDIDATES: usize = 100;

/// How long a question may take to become a vector.
const EMBEDDED_WITHIN: std::time::Duration = std::time::Duration::from_secs(3);

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
        let vector = self.vector(&opened, &text, query.mode);
        let (vector, degraded) = vector.await;
        let work = {
            let opened = opened.clone();
            let query = query.clone();
            let words = words.clone();
            move || candidates::look(&opened, &query, &words, vector.as_deref())
        };
        let looked = tokio::task::spawn_blocking(work).await;
        let mut looked =
            looked.map_err(|_| Error::Closed("the search failed; the log says more".to_owned()))??;
        looked.degraded.splice(0..0, degraded);
        answer::rerank(&opened, &text, &mut looked).await;
        Ok(answer::answer(&opened, &query, looked, begun.elapsed()))
    }

    /// The first so many candidates in their order, without anything to show and before any reranking; for evaluation,
    /// which looks further than callers do.
    pub async fn rank(&self, query: Query, depth: usize) -> Result<Vec<Ranked>, Error> {
        let text = checked(&query.text)?.to_owned();
        let opened = self.opened().await?;
        let (vector, _) = self.vector(&opened, &text, query.mode).await;
        let work = move || candidates::rank(&opened, &query, &Words::of(&text), vector.as_deref(), depth);
        let ranked = tokio::task::spawn_blocking(work).await;
        ranked.map_err(|_| Error::Closed("the search failed; the log says more".to_owned()))
    }

    /// The vector of a question, and why there is none or a poor one.
    async fn vector(&self, opened: &Opened, text: &str, mode: Mode) -> (Option<Arc<[f32]>>, Option<String>) {
        if mode == Mode::Words {
            return (None, None);
        }
        let Some(active) = opened.active() else {
            let status = self.model.borrow().clone();
            let reason = match status {
                ModelStatus::Off => "no model is configured".to_owned(),
                ModelStatus::Preparing | ModelStatus::Ready => "the model is still being loaded".to_owned(),
                ModelStatus::Failed(reason) => reason,
            };
            return (None, Some(format!("found by words only: {reason}")));
        };
        let key = (active.model, text.to_owned());
        if let Some(vector) = self.asked.get(&key) {
            return (Some(vector), None);
        }
        let texts = [text.to_owned()];
        let embedding = active.embedder.embed(Purpose::Query, &texts);
        match tokio::time::timeout(EMBEDDED_WITHIN, embedding).await {
            Ok(Ok(vectors)) => {
                let vector: Option<Arc<[f32]>> = vectors.into_iter().next().map(Arc::from);
                if let Some(vector) = &vector {
                    self.asked.insert(key, vector.clone());
                }
                (vector, None)
            }
            Ok(Err(error)) => (None, Some(format!("found by words only: {error}"))),
            Err(_) => (None, Some("found by words only: the model took too long".to_owned())),
        }
    }
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
