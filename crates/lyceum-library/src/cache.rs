//! The cache of live reads, and single flight for concurrent ones.
//!
//! Invariant: the key has a hash of the caller's token, so what GitHub sent to one token is never served to another. It
//! is in memory only.

use std::{sync::Arc, time::Duration};

use lyceum_model::RelPath;
use lyceum_net::SingleFlight;
use lyceum_source::github::{File, RepoName, TokenHash};
use quick_cache::{Weighter, sync};
use tokio::time::Instant;

use crate::error::ReadFailure;

/// How long a file is served without asking GitHub.
pub(crate) const TTL: Duration = Duration::from_secs(600);

/// Maximum size of all cached files, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Estimated number of cached files.
const ESTIMATED_FILES: usize = 4096;

/// What is read: the first of these paths that is a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) token: TokenHash,
    pub(crate) repo: RepoName,
    pub(crate) branch: String,
    pub(crate) paths: Vec<RelPath>,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) path: RelPath,
    pub(crate) file: Arc<File>,
    pub(crate) etag: Option<String>,
    /// When GitHub last confirmed it.
    pub(crate) fetched_at: Instant,
}

#[derive(Debug)]
pub(crate) struct Cache {
    entries: sync::Cache<Arc<Key>, Arc<Entry>, Bytes>,
    pub(crate) flights: SingleFlight<Arc<Key>, Result<Arc<Entry>, ReadFailure>>,
}

#[derive(Debug, Clone)]
struct Bytes;

impl Weighter<Arc<Key>, Arc<Entry>> for Bytes {
    fn weight(&self, key: &Arc<Key>, entry: &Arc<Entry>) -> u64 {
        let paths: usize = key.paths.iter().map(|path| path.as_str().len()).sum();
        u64::try_from(entry.file.bytes.len() + paths + 512).unwrap_or(u64::MAX)
    }
}

impl Default for Cache {
    fn default() -> Self {
        let entries = sync::Cache::with_weighter(ESTIMATED_FILES, MAX_BYTES, Bytes);
        Self { entries, flights: SingleFlight::default() }
    }
}

impl Cache {
    /// What was read and may be served at that time.
    pub(crate) fn fresh(&self, key: &Arc<Key>, now: Instant) -> Option<Arc<Entry>> {
        self.known(key).filter(|entry| now.saturating_duration_since(entry.fetched_at) < TTL)
    }

    /// What was read, however long ago, to ask GitHub whether it changed.
    pub(crate) fn known(&self, key: &Arc<Key>) -> Option<Arc<Entry>> {
        self.entries.get(key)
    }

    pub(crate) fn insert(&self, key: Arc<Key>, entry: Arc<Entry>) {
        self.entries.insert(key, entry);
    }

    pub(crate) fn remove(&self, key: &Arc<Key>) {
        self.entries.remove(key);
    }
}
