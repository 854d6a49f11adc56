//! How far the index is: for `/health`, for progress bars, and for what answers say of themselves.

use std::sync::atomic::Ordering;

use schemars::JsonSchema;
use serde::Serialize;

use super::Search;
use crate::{error::Error, filling::ModelStatus};
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
    /// Why meaning is not searched, where it is not.
    pub reason: Option<String>,
}

/// What the index is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing is pending.
    Ready,
    /// It is being opened.
    Opening,
    /// The model is being fetched or loaded.
    Preparing,
    /// Vectors are being made.
    Embedding,
    /// Words only: the model does not work.
    Degraded,
}

impl Search {
    /// How far the index is.
    pub async fn status(&self) -> Result<Status, Error> {
        let model = self.model.borrow().clone();
        let Some(opened) = self.opened_now() else {
            let state = State::Opening;
            return Ok(Status { documents: 0, chunks: 0, pending: 0, state, model: None, reason: None });
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
        let state = match &model {
            ModelStatus::Failed(_) => State::Degraded,
            ModelStatus::Preparing => State::Preparing,
            ModelStatus::Ready if pending > 0 => State::Embedding,
            ModelStatus::Ready | ModelStatus::Off => State::Ready,
        };
        let reason = match model {
            ModelStatus::Failed(reason) => Some(reason),
            _ => None,
        };
        let model = active.map(|active| active.embedder.identity().name.clone());
        Ok(Status { documents, chunks, pending, state, model, reason })
    }
}
