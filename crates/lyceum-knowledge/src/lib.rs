//! The knowledge service: a repository of typed markdown, in sync, and what is offered of it.
//!
//! One process at a time brings a data folder up to date ([`Knowledge::keep_fresh`]): it reads what changed, writes it
//! down in one transaction, and puts the objects where they belong. Every process serves from an immutable catalog
//! that follows the events of those transactions.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod accept;
mod catalog;
mod document;
mod document_bytes;
pub mod failpoint;
mod fresh;
mod markdown;
mod pages;
mod plan;
mod prompts;
mod provenance;
mod read;
mod register;
mod report;
mod resources;
mod search_request;
mod search_response;
mod service;
pub(crate) mod sync;
mod term;
mod tools;
mod upload;

pub use accept::Delivery;
pub use catalog::{CatalogSnapshot, Counts};
pub use document::Document;
pub use document_bytes::DocumentBytes;
pub use plan::left_out;
pub use read::{MAX_DOCUMENT_BYTES, hidden};
pub use register::{document_uris, list_uris, register};
pub use report::{CappedList, FileReason, Report};
pub use search_request::{
    DEFAULT_RESULTS, Filters, KnowledgeSearch, SCRIPT, SKILL, SearchOptions, is_of_skills,
};
pub use search_response::{ScoreExplanation, SearchHit, SearchResponse};
pub use service::{Knowledge, Links, OpenError, Options, Readers, State};
pub use sync::{Progress, SyncError};

#[cfg(test)]
mod tests;
