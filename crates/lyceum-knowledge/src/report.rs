//! What a sync did, for whoever asked for it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Counts;

/// How many files a report names one by one.
const NAMED: usize = 500;

/// What a sync did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The source.
    pub source: String,
    /// The commit that is served now; for a folder, what stands for one.
    pub commit: String,
    /// When it was synced.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub synced_at: Option<Timestamp>,
    /// Documents that are served now and were not before.
    pub added: Listed<String>,
    /// Documents that are served in a new version.
    pub changed: Listed<String>,
    /// Documents that are served no more.
    pub removed: Listed<String>,
    /// Files that can't be served as they are, with the reason; all of them, not only the new ones.
    pub skipped: Listed<FileReason>,
    /// Files that could not be read, with the reason; they are tried again.
    pub failed: Listed<FileReason>,
    /// Documents that did not get the name of their file as their id, for it is taken or too long.
    pub renamed: Listed<FileReason>,
    /// How many files of the source are in which state.
    pub files: Counts,
    /// How long it took, in milliseconds.
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

/// A count, and the first items by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listed<T> {
    /// How many there are.
    pub count: usize,
    /// The first of them.
    pub first: Vec<T>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T> FromIterator<T> for Listed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = items.into_iter();
        let first: Vec<T> = all.by_ref().take(NAMED).collect();
        Self { count: first.len() + all.count(), first }
    }
}
