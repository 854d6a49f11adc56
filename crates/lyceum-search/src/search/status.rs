//! How far the index is: for `/health`, for progress bars, and for what answers say of themselves.

use std::sync::{PoisonError, atomic::Ordering};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Opening, Search};
use crate::{embed_queue::ModelStatus, error::Error, failure::Failure};
use lyceum_store::{pages, vectors};

/// How far the index is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Status {
    /// How many documents are searched.
    pub documents: i64,
    /// How many passages they have.
    pub chunks: i64,
    /// How many of those have no vector yet.
    pub pending: i64,
    /// What it is doing.
    pub state: State,
    /// The model, where there is one.
    pub model: Option<String>,
    /// Why it is degraded, where it is.
    pub reason: Option<String>,
    /// The same with all that is known, for commands: it may say what an endpoint said, and name files.
    #[serde(skip)]
    pub detail: Option<String>,
}

/// What the index is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing is pending: what is served can be found.
    Ready,
    /// Documents are served that are not in the index yet.
    Indexing,
    /// It is being opened.
    Opening,
    /// The model is being fetched or loaded.
    Preparing,
    /// Vectors are being made.
    Embedding,
    /// Answers are poorer than they could be, or there are none: the reason says why.
    Degraded,
}

impl Search {
    /// How far the index is.
    pub async fn status(&self) -> Result<Status, Error> {
        let model = self.model.borrow().clone();
        let opened = match &*self.opening.borrow() {
            Opening::Done(opened) => opened.clone(),
            Opening::Pending => return Ok(Status::without_index(State::Opening, None)),
            Opening::Failed(failure) => {
                return Ok(Status::without_index(State::Degraded, Some(Failure::clone(failure))));
            }
        };
        let active = opened.active();
        let of = active.as_ref().map(|active| active.model);
        let is_off = model == ModelStatus::Off;
        let wanted = Some(self.wanted.load(Ordering::Relaxed)).filter(|wanted| *wanted > 0);
        let read = opened.db.read(move |tx| {
            let (documents, chunks) = pages::count(tx)?;
            let pending = match wanted.or(of) {
                _ if is_off => 0,
                Some(model) => vectors::count_pending(tx, model)?,
                None => chunks,
            };
            Ok((documents, chunks, pending))
        });
        let (documents, chunks, pending) = read.await?;
        let (state, failure) = match (model, self.lock_failure()) {
            (ModelStatus::Failed(failure), _) => (State::Degraded, Some(failure)),
            (_, Some(failure)) => (State::Degraded, Some(failure)),
            (ModelStatus::Preparing, None) => (State::Preparing, None),
            (ModelStatus::Ready, None) if pending > 0 => (State::Embedding, None),
            (ModelStatus::Ready | ModelStatus::Off, None) => (State::Ready, None),
        };
        let (reason, detail) = public_and_cause(failure);
        let model = active.map(|active| active.embedder.identity().name.clone());
        Ok(Status { documents, chunks, pending, state, model, reason, detail })
    }

    /// Why nothing new can get into the index, where that is so.
    fn lock_failure(&self) -> Option<Failure> {
        let fault = self.unlockable.lock().unwrap_or_else(PoisonError::into_inner).clone();
        fault.map(|fault| Failure {
            reason: "the index is not updated: could not lock it".to_owned(),
            detail: format!("the file leader.lock of the index can't be locked: {fault}"),
        })
    }
}

impl Status {
    fn without_index(state: State, failure: Option<Failure>) -> Self {
        let (reason, detail) = public_and_cause(failure);
        Self { documents: 0, chunks: 0, pending: 0, state, model: None, reason, detail }
    }
}

fn public_and_cause(failure: Option<Failure>) -> (Option<String>, Option<String>) {
    failure.map(|Failure { reason, detail }| (reason, detail)).unzip()
}
