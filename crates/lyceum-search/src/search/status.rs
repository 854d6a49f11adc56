//! Index status: for `/health`, progress bars and search responses.

use std::sync::{PoisonError, atomic::Ordering};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Opening, Search};
use crate::{embed_queue::ModelStatus, error::Error, failure::Failure};
use lyceum_store::{pages, vectors};

/// Status of the search index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Status {
    /// Number of indexed documents.
    pub documents: i64,
    /// Number of chunks.
    pub chunks: i64,
    /// Number of chunks without an embedding yet.
    pub pending: i64,
    /// State of the index.
    pub state: State,
    /// Name of the embedding model, if one is active.
    pub model: Option<String>,
    /// Why the index is degraded, if it is.
    pub reason: Option<String>,
    /// The reason in full detail, for CLI commands: it may include messages of endpoints and file names.
    #[serde(skip)]
    pub detail: Option<String>,
}

/// State of the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Up to date: everything that is served can be found.
    Ready,
    /// Some served documents are not in the index yet.
    Indexing,
    /// The index is being opened.
    Opening,
    /// The embedding model is being downloaded or loaded.
    Preparing,
    /// Embeddings are being computed.
    Embedding,
    /// Results are degraded or unavailable; see `reason`.
    Degraded,
}

impl Search {
    /// Status of the search index.
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
        let active_id = active.as_ref().map(|active| active.model);
        let is_off = model == ModelStatus::Off;
        let target_model =
            Some(self.target_model.load(Ordering::Relaxed)).filter(|target_model| *target_model > 0);
        let index = opened.index;
        let read = opened.db.read(move |tx| {
            let (documents, chunks) = pages::count(tx, index)?;
            let pending = match target_model.or(active_id) {
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
        let (reason, detail) = split_failure(failure);
        let model = active.map(|active| active.embedder.identity().name.clone());
        Ok(Status { documents, chunks, pending, state, model, reason, detail })
    }

    /// Why the index is not updated, if the lock could not be requested.
    fn lock_failure(&self) -> Option<Failure> {
        let fault = self.lock_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        fault.map(|fault| Failure {
            reason: "the index is not updated: could not lock it".to_owned(),
            detail: format!("the file leader.lock of the index can't be locked: {fault}"),
        })
    }
}

impl Status {
    fn without_index(state: State, failure: Option<Failure>) -> Self {
        let (reason, detail) = split_failure(failure);
        Self { documents: 0, chunks: 0, pending: 0, state, model: None, reason, detail }
    }
}

fn split_failure(failure: Option<Failure>) -> (Option<String>, Option<String>) {
    failure.map(|Failure { reason, detail }| (reason, detail)).unzip()
}
