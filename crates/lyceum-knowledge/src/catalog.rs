//! What is served: the catalog of one moment, made of the database and kept up with its events.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;
use lyceum_content::knowledge::{Catalog, Entry, EntryParts};
use lyceum_model::RelPath;
use lyceum_store::{
    DbError, Tx,
    documents::{self, DocumentRow, FileState},
    events::{self, Event},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    failpoint::{self, Step},
    service::Links,
};

/// How many events are taken one by one; with more of them everything is read.
const MAX_INCREMENTAL_EVENTS: usize = 2_000;

/// What is looked for in the database.
#[derive(Debug, Clone)]
pub(crate) struct CatalogKey {
    /// The source.
    pub source: String,
    /// The rules that its documents must have been chosen by.
    pub rules: String,
    /// How the web shows them.
    pub links: Links,
}

/// What is served at one moment: one whole commit.
#[derive(Debug, Clone, Default)]
pub struct CatalogSnapshot {
    /// The entries.
    pub catalog: Catalog,
    /// The commit, or what stands for one; nothing before the first sync.
    pub version: Option<String>,
    /// When it was synced.
    pub synced_at: Option<Timestamp>,
    /// How many files are in which state.
    pub files: Counts,
    /// The number of the last event that is shown.
    pub(crate) seq: i64,
}

/// Number of files of a source in each state; together they are all of its markdown files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Published.
    pub published: i64,
    /// Drafts.
    pub drafts: i64,
    /// Not marked for publication.
    pub unpublished: i64,
    /// Skipped: not readable as documents.
    pub skipped: i64,
    /// Failed to read; retried.
    pub failed: i64,
}

impl Counts {
    /// All files.
    pub fn total(&self) -> i64 {
        self.published + self.drafts + self.unpublished + self.skipped + self.failed
    }

    pub(crate) fn of(counted: &[(FileState, i64)]) -> Self {
        let mut counts = Self::default();
        for (state, count) in counted {
            *match state {
                FileState::Published => &mut counts.published,
                FileState::Draft => &mut counts.drafts,
                FileState::Unpublished => &mut counts.unpublished,
                FileState::Skipped => &mut counts.skipped,
                FileState::Failed => &mut counts.failed,
            } += count;
        }
        counts
    }
}

impl CatalogSnapshot {
    /// Reads everything.
    pub(crate) fn load(tx: &Tx<'_>, key: &CatalogKey) -> Result<Self, DbError> {
        if documents::source(tx, &key.source)?.rules != key.rules {
            // What was chosen by other rules may be what these leave out.
            return Ok(Self::default());
        }
        let rows = documents::documents(tx, &key.source)?;
        let entries = rows.into_iter().map(|row| entry(row, &key.links));
        let catalog = Catalog::new(entries.collect::<Result<Vec<_>, _>>()?);
        Self::around(tx, &key.source, catalog)
    }

    /// What follows from the events since; nothing if there were none.
    pub(crate) fn next(&self, tx: &Tx<'_>, key: &CatalogKey) -> Result<Option<Self>, DbError> {
        let source = key.source.as_str();
        let row = documents::source(tx, source)?;
        if row.rules != key.rules {
            return Ok(self.version.is_some().then(Self::default));
        }
        if self.version.is_none() && row.version.is_some() {
            failpoint::reached(Step::Followed);
            return Self::load(tx, key).map(Some);
        }
        let is_same = row.version == self.version && row.synced_at == self.synced_at;
        if is_same && events::last(tx)? == self.seq {
            return Ok(None);
        }
        let news = events::after(tx, source, self.seq, MAX_INCREMENTAL_EVENTS)?;
        let missed = events::last(tx)?.saturating_sub(self.seq);
        // Too many to take one by one, or some were swept away while this process slept.
        if usize::try_from(missed).ok() != Some(news.len()) {
            return Self::load(tx, key).map(Some);
        }
        failpoint::reached(Step::Followed);
        let catalog = self.apply(tx, key, &news)?;
        Self::around(tx, source, catalog).map(Some)
    }

    fn apply(&self, tx: &Tx<'_>, of: &CatalogKey, news: &[Event]) -> Result<Catalog, DbError> {
        let mut entries: HashMap<String, Arc<Entry>> =
            self.catalog.entries().iter().map(|entry| (entry.key(), entry.clone())).collect();
        // Whatever happened to a document, what counts is what became of it.
        let touched: BTreeSet<&str> = news.iter().map(|event| event.key.as_str()).collect();
        for key in touched {
            let Some((content_type, id)) = of_key(key) else { continue };
            let place = format!("{content_type}/{id}");
            match documents::document(tx, &of.source, content_type, id)? {
                Some(row) => entries.insert(place, entry(row, &of.links)?),
                None => entries.remove(&place),
            };
        }
        Ok(Catalog::new(entries.into_values()))
    }

    fn around(tx: &Tx<'_>, source: &str, catalog: Catalog) -> Result<Self, DbError> {
        let row = documents::source(tx, source)?;
        let files = Counts::of(&documents::count_files(tx, source)?);
        let seq = events::last(tx)?;
        Ok(Self { catalog, version: row.version, synced_at: row.synced_at, files, seq })
    }
}

/// The type and the id in `content/{type}/{id}.json`.
fn of_key(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("content/")?.strip_suffix(".json")?.split_once('/')
}

fn entry(row: DocumentRow, links: &Links) -> Result<Arc<Entry>, DbError> {
    let strange = |error: &dyn std::fmt::Display| DbError::Content(format!("{}: {error}", row.path));
    let path = RelPath::parse(&row.path).map_err(|error| strange(&error))?;
    let metadata = serde_json::from_str(&row.metadata).map_err(|error| strange(&error))?;
    let url = links.to(&row.version, &path);
    let DocumentRow { content_type, id, hash, version, synced_at, title, excerpt, first_line, .. } = row;
    Ok(Arc::new(Entry::new(EntryParts {
        id,
        content_type,
        path,
        title,
        excerpt,
        metadata,
        version,
        synced_at,
        url,
        hash,
        first_line: usize::try_from(first_line).unwrap_or(1),
    })))
}
