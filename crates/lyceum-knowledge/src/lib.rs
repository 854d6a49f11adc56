//! The knowledge service: syncs a source of typed markdown and serves it over MCP.
//!
//! One process at a time, the leader, syncs a data folder ([`Knowledge::keep_fresh`]): it reads what changed, publishes
//! it in one transaction, and uploads the objects. Every process serves from an immutable catalog that follows the
//! event log of those transactions.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod accept;
mod catalog;
mod document;
mod document_bytes;
mod drafts;
pub mod failpoint;
mod features;
mod fresh;
mod markdown;
mod pages;
mod plan;
mod profile;
mod prompts;
mod provenance;
mod public;
mod publishing;
mod read;
mod register;
mod report;
mod resources;
mod search_everything;
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
pub use drafts::{DRAFTS_WRITE, Destination, DraftList, DraftOptions, DraftSummary, LINKS_WRITE};
pub use features::Features;
pub use plan::{excluded_documents, is_document, templates};
pub use profile::Profile;
pub use public::PublicContent;
pub use publishing::recognise_publishing;
pub use read::{MAX_DOCUMENT_BYTES, hidden};
pub use register::{document_uris, list_uris, register, register_everything};
pub use report::{CappedList, FileReason, Report};
pub use search_everything::{EverythingHit, EverythingResponse, KnowledgeBases, NamedBase};
pub use search_request::{
    DEFAULT_RESULTS, Filters, KnowledgeSearch, SCRIPT, SKILL, SearchOptions, is_of_skills,
};
pub use search_response::{ScoreExplanation, SearchCoverage, SearchHit, SearchResponse};
pub use service::{Knowledge, Links, OpenError, Options, State};
pub use sync::{Progress, SyncError};

#[cfg(test)]
mod tests;
