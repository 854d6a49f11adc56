//! The report of a sync.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Counts;

/// Maximum number of items listed per category.
const MAX_NAMED_FILES: usize = 500;

/// The report of a sync.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Name of the source.
    pub source: String,
    /// The published commit; for a folder, `tree-` and a hash of its files.
    pub commit: String,
    /// When it was synced.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub synced_at: Option<Timestamp>,
    /// Documents published for the first time.
    pub added: CappedList<String>,
    /// Documents published in a new version.
    pub changed: CappedList<String>,
    /// Documents no longer published.
    pub removed: CappedList<String>,
    /// All files that are skipped, with the reason.
    pub skipped: CappedList<FileReason>,
    /// Files that could not be read, with the reason; they are retried.
    pub failed: CappedList<FileReason>,
    /// Documents whose id ends in a hash, because the plain one is taken, too long or has nothing for a URL.
    pub hashed_ids: CappedList<FileReason>,
    /// Number of files of the source in each state.
    pub files: Counts,
    /// Number of files that are no documents, by extension.
    pub other_files: BTreeMap<String, usize>,
    /// Duration, in milliseconds.
    pub took_ms: u64,
}

/// A file and the reason it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileReason {
    /// The file.
    pub path: String,
    /// The reason.
    pub reason: String,
}

/// A count, and the first items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CappedList<T> {
    /// Total number of items.
    pub count: usize,
    /// The first items.
    pub first: Vec<T>,
}

impl<T> Default for CappedList<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T> FromIterator<T> for CappedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = items.into_iter();
        let first: Vec<T> = all.by_ref().take(MAX_NAMED_FILES).collect();
        Self { count: first.len() + all.count(), first }
    }
}
