//! The published catalog: loaded from the database, and updated from its event log.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;
use lyceum_content::{
    document::Publishing,
    knowledge::{Catalog, Entry, EntryParts},
};
use lyceum_model::RelPath;
use lyceum_store::{
    DbError, Tx,
    documents::{self, DocumentRow, FileState},
    events::{self, Event, Position, Since},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Profile,
    failpoint::{self, Step},
    publishing,
    service::Links,
};

/// Maximum number of events to apply incrementally; with more, the catalog is reloaded.
const MAX_INCREMENTAL_EVENTS: usize = 2_000;

/// What to load from the database.
#[derive(Debug, Clone)]
pub(crate) struct CatalogKey {
    /// The source.
    pub source: String,
    /// The rules that its documents must have been published with.
    pub rules: String,
    /// Link template of its files.
    pub links: Links,
}

/// A published snapshot: one whole commit.
#[derive(Debug, Clone, Default)]
pub struct CatalogSnapshot {
    /// The entries.
    pub catalog: Catalog,
    /// The version: a commit, or a hash of the files; `None` before the first sync.
    pub version: Option<String>,
    /// When it was synced.
    pub synced_at: Option<Timestamp>,
    /// Number of files in each state.
    pub files: Counts,
    /// Which documents are published; `None` before the first sync.
    pub publishing: Option<Publishing>,
    /// What it holds, for descriptions.
    pub profile: Profile,
    /// The last applied event.
    pub(crate) position: Position,
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
    /// Why nothing is published although the source is synced, and what to do.
    pub fn nothing_published(&self) -> Option<String> {
        let files = self.version.as_ref().map(|_| self.files)?;
        if files.published > 0 {
            return None;
        }
        let total = files.total();
        Some(match self.publishing {
            _ if total == 0 => "the source has no markdown files; check its path or branch".to_owned(),
            Some(Publishing::Frontmatter) if files.unpublished + files.skipped > 0 => format!(
                "none of {total} documents is published, because none has `publish: true`; \
                 to publish all of them, set publish = \"all\" in [knowledge]"
            ),
            _ => format!(
                "none of {total} documents is published: {} drafts, {} with `publish: false`, {} skipped, {} unreadable; \
                 lyceum doctor lists the reasons",
                files.drafts, files.unpublished, files.skipped, files.failed
            ),
        })
    }

    /// Loads the whole catalog.
    pub(crate) fn load(tx: &Tx<'_>, key: &CatalogKey) -> Result<Self, DbError> {
        if documents::source(tx, &key.source)?.rules != key.rules {
            // Documents published with other rules may be excluded by these.
            return Ok(Self::default());
        }
        let rows = documents::documents(tx, &key.source)?;
        let entries = rows.into_iter().map(|row| entry(row, &key.links));
        let catalog = Catalog::new(entries.collect::<Result<Vec<_>, _>>()?);
        Self::assemble(tx, &key.source, catalog)
    }

    /// Applies the events since this snapshot; `None` if there are none.
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
        let new_events = match events::since(tx, source, self.position, MAX_INCREMENTAL_EVENTS)? {
            Since::Nothing if is_same => return Ok(None),
            Since::Nothing => Vec::new(),
            Since::Events(events) => events,
            Since::Unknown => return Self::load(tx, key).map(Some),
        };
        failpoint::reached(Step::Followed);
        let catalog = self.apply(tx, key, &new_events)?;
        Self::assemble(tx, source, catalog).map(Some)
    }

    fn apply(&self, tx: &Tx<'_>, catalog_key: &CatalogKey, events: &[Event]) -> Result<Catalog, DbError> {
        let mut entries: HashMap<String, Arc<Entry>> =
            self.catalog.entries().iter().map(|entry| (entry.key(), entry.clone())).collect();
        // Only the current state of a document matters, not its history.
        let touched: BTreeSet<&str> = events.iter().map(|event| event.key.as_str()).collect();
        for key in touched {
            let Some((content_type, id)) = parse_key(key) else { continue };
            let entry_key = format!("{content_type}/{id}");
            match documents::document(tx, &catalog_key.source, content_type, id)? {
                Some(row) => entries.insert(entry_key, entry(row, &catalog_key.links)?),
                None => entries.remove(&entry_key),
            };
        }
        Ok(Catalog::new(entries.into_values()))
    }

    fn assemble(tx: &Tx<'_>, source: &str, catalog: Catalog) -> Result<Self, DbError> {
        let row = documents::source(tx, source)?;
        let files = Counts::of(&documents::count_files(tx, source)?);
        let position = events::last(tx, source)?;
        let publishing = publishing::load(tx, source)?;
        let profile = row.version.as_ref().map(|_| Profile::of(&catalog)).unwrap_or_default();
        let (version, synced_at) = (row.version, row.synced_at);
        Ok(Self { catalog, version, synced_at, files, publishing, profile, position })
    }
}

/// Parses type and id from `content/{type}/{id}.json`.
fn parse_key(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("content/")?.strip_suffix(".json")?.split_once('/')
}

fn entry(row: DocumentRow, links: &Links) -> Result<Arc<Entry>, DbError> {
    let invalid = |error: &dyn std::fmt::Display| DbError::Content(format!("{}: {error}", row.path));
    let path = RelPath::parse(&row.path).map_err(|error| invalid(&error))?;
    let metadata = serde_json::from_str(&row.metadata).map_err(|error| invalid(&error))?;
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
