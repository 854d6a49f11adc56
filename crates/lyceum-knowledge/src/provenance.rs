//! Provenance of content: part of every response that quotes a document.

use jiff::Timestamp;
use lyceum_content::knowledge::Entry;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Document, Knowledge};

/// Provenance of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Provenance {
    /// The source it comes from.
    pub source: String,
    /// Its file in the source.
    pub path: String,
    /// The commit it was synced at; for a folder, `tree-` and a hash of its files.
    pub commit: String,
    /// When it was synced.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub synced_at: Timestamp,
    /// Link to the file at that commit; null if there is none.
    pub url: Option<String>,
}

impl Provenance {
    /// Provenance of a catalog entry.
    pub(crate) fn of_entry(knowledge: &Knowledge, entry: &Entry) -> Self {
        Self {
            source: knowledge.source_name().to_string(),
            path: entry.summary.path.clone(),
            commit: entry.summary.commit_sha.clone(),
            synced_at: entry.summary.synced_at,
            url: entry.summary.url.clone(),
        }
    }

    /// Provenance of a document, which may be newer than its entry.
    pub(crate) fn of_document(document: &Document) -> Self {
        Self {
            source: document.source.clone(),
            path: document.path.clone(),
            commit: document.commit_sha.clone(),
            synced_at: document.synced_at,
            url: document.url.clone(),
        }
    }
}
