//! Sources, their files and the served documents of a knowledge base.

use jiff::Timestamp;

use crate::{DbError, Row, Tx, counters};

/// Sync state of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceRow {
    /// The served commit; for a folder, a hash of its files.
    pub version: Option<String>,
    /// Time of the last sync.
    pub synced_at: Option<Timestamp>,
    /// Fingerprint of the rules its files were parsed with.
    pub rules: String,
    /// Number of requested syncs.
    pub wanted: i64,
    /// Number of completed sync requests.
    pub done: i64,
}

/// Outcome of processing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileState {
    /// It is served.
    Published,
    /// It is a draft.
    Draft,
    /// It is marked as not to be served.
    Unpublished,
    /// It is invalid; `reason` says why.
    Skipped,
    /// It could not be read; `reason` says why. It is retried at `due`, if set.
    Failed,
}

/// A file of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its path.
    pub path: String,
    /// Fingerprint that identifies its content without reading it; `None` if the file must be read again.
    pub stamp: Option<String>,
    /// Hash of its content.
    pub digest: Option<String>,
    /// Its type.
    pub content_type: String,
    /// Outcome of processing it.
    pub state: FileState,
    /// Why it is skipped or failed.
    pub reason: Option<String>,
    /// Violations of its content type, as JSON.
    pub faults: Option<String>,
    /// Number of failed reads.
    pub attempts: i64,
    /// Time of the next retry.
    pub due: Option<Timestamp>,
}

/// A served document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRow {
    /// Its file.
    pub path: String,
    /// Its type.
    pub content_type: String,
    /// Its id.
    pub id: String,
    /// Hash of its object.
    pub hash: String,
    /// The commit it was synced at; for a folder, `tree-` and a hash of its files.
    pub version: String,
    /// Time of that sync.
    pub synced_at: Timestamp,
    /// Its title.
    pub title: String,
    /// The fields of its frontmatter, as JSON.
    pub metadata: String,
    /// Its first paragraph.
    pub excerpt: String,
    /// First line of its body in the file, starting at 1.
    pub first_line: i64,
}

impl FileState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Published, Self::Draft, Self::Unpublished, Self::Skipped, Self::Failed];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Draft => "draft",
            Self::Unpublished => "unpublished",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }

    fn parse(text: &str) -> Result<Self, DbError> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| DbError::Content(format!("unknown file state {text:?}")))
    }
}

/// Returns the state of a source; default values if it was never synced.
pub fn source(tx: &Tx<'_>, name: &str) -> Result<SourceRow, DbError> {
    let found = tx.row(
        "SELECT version, synced_at, rules, wanted, done FROM sources WHERE name = $1",
        [name.into()],
        |row| {
            Ok(SourceRow {
                version: row.maybe_text(0)?,
                synced_at: row.maybe_integer(1)?.map(timestamp),
                rules: row.text(2)?,
                wanted: row.integer(3)?,
                done: row.integer(4)?,
            })
        },
    )?;
    Ok(found.unwrap_or_default())
}

/// Requests a sync of a source.
pub fn request_sync(tx: &Tx<'_>, name: &str) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO sources (name, rules, wanted, done) VALUES ($1, '', 1, 0)
         ON CONFLICT (name) DO UPDATE SET wanted = sources.wanted + 1",
        [name.into()],
    )?;
    Ok(())
}

/// Saves the state of a source. Sync requests made meanwhile are kept.
pub fn put_source(tx: &Tx<'_>, name: &str, row: &SourceRow) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO sources (name, version, synced_at, rules, wanted, done) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version, synced_at = excluded.synced_at,
             rules = excluded.rules, done = excluded.done",
        [
            name.into(),
            (&row.version).into(),
            row.synced_at.map(Timestamp::as_millisecond).into(),
            row.rules.as_str().into(),
            row.wanted.into(),
            row.done.into(),
        ],
    )?;
    Ok(())
}

/// Every file of a source.
pub fn files(tx: &Tx<'_>, source: &str) -> Result<Vec<FileRow>, DbError> {
    tx.rows(
        "SELECT path, stamp, digest, content_type, state, reason, faults, attempts, due FROM files
         WHERE source = $1 ORDER BY path",
        [source.into()],
        |row| {
            Ok(FileRow {
                path: row.text(0)?,
                stamp: row.maybe_text(1)?,
                digest: row.maybe_text(2)?,
                content_type: row.text(3)?,
                state: FileState::parse(&row.text(4)?)?,
                reason: row.maybe_text(5)?,
                faults: row.maybe_text(6)?,
                attempts: row.integer(7)?,
                due: row.maybe_integer(8)?.map(timestamp),
            })
        },
    )
}

/// Counts the files of a source by state.
pub fn count_files(tx: &Tx<'_>, source: &str) -> Result<Vec<(FileState, i64)>, DbError> {
    tx.rows(
        "SELECT state, count(*) FROM files WHERE source = $1 GROUP BY state ORDER BY state",
        [source.into()],
        |row| Ok((FileState::parse(&row.text(0)?)?, row.integer(1)?)),
    )
}

/// Time of the next retry of an unreadable file, if any.
pub fn next_due(tx: &Tx<'_>, source: &str) -> Result<Option<Timestamp>, DbError> {
    let found =
        tx.row("SELECT min(due) FROM files WHERE source = $1 AND due IS NOT NULL", [source.into()], |row| {
            row.maybe_integer(0)
        })?;
    Ok(found.flatten().map(timestamp))
}

/// Inserts or updates files.
pub fn put_files<'a>(
    tx: &Tx<'_>,
    source: &str,
    rows: impl IntoIterator<Item = &'a FileRow>,
) -> Result<(), DbError> {
    let params = rows.into_iter().map(|row| {
        [
            source.into(),
            (&row.path).into(),
            (&row.stamp).into(),
            (&row.digest).into(),
            (&row.content_type).into(),
            row.state.as_str().into(),
            (&row.reason).into(),
            (&row.faults).into(),
            row.attempts.into(),
            row.due.map(Timestamp::as_millisecond).into(),
        ]
    });
    tx.many(
        "INSERT INTO files (source, path, stamp, digest, content_type, state, reason, faults, attempts, due)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (source, path) DO UPDATE SET stamp = excluded.stamp, digest = excluded.digest,
             content_type = excluded.content_type, state = excluded.state, reason = excluded.reason,
             faults = excluded.faults, attempts = excluded.attempts, due = excluded.due",
        params,
    )?;
    Ok(())
}

/// Clears the fingerprint and hash of a file, so that it is read again.
pub fn forget_content(tx: &Tx<'_>, source: &str, path: &str) -> Result<(), DbError> {
    tx.execute(
        "UPDATE files SET stamp = NULL, digest = NULL WHERE source = $1 AND path = $2",
        [source.into(), path.into()],
    )?;
    Ok(())
}

/// Deletes files that no longer exist.
pub fn remove_files<'a>(
    tx: &Tx<'_>,
    source: &str,
    paths: impl IntoIterator<Item = &'a str>,
) -> Result<(), DbError> {
    let params = paths.into_iter().map(|path| [source.into(), path.into()]);
    tx.many("DELETE FROM files WHERE source = $1 AND path = $2", params)?;
    Ok(())
}

const DOCUMENT: &str = "SELECT path, content_type, id, hash, version, synced_at, title, metadata, excerpt, first_line \
     FROM documents";

/// All served documents of a source.
pub fn documents(tx: &Tx<'_>, source: &str) -> Result<Vec<DocumentRow>, DbError> {
    tx.rows(&format!("{DOCUMENT} WHERE source = $1 ORDER BY path"), [source.into()], document_row)
}

/// Finds a document by type and id.
pub fn document(
    tx: &Tx<'_>,
    source: &str,
    content_type: &str,
    id: &str,
) -> Result<Option<DocumentRow>, DbError> {
    tx.row(
        &format!("{DOCUMENT} WHERE source = $1 AND content_type = $2 AND id = $3"),
        [source.into(), content_type.into(), id.into()],
        document_row,
    )
}

/// Inserts documents. When replacing several, remove all of them first: two may swap their ids.
pub fn put_documents<'a>(
    tx: &Tx<'_>,
    source: &str,
    rows: impl IntoIterator<Item = &'a DocumentRow>,
) -> Result<(), DbError> {
    let params = rows.into_iter().map(|row| {
        [
            source.into(),
            (&row.path).into(),
            (&row.content_type).into(),
            (&row.id).into(),
            (&row.hash).into(),
            (&row.version).into(),
            row.synced_at.as_millisecond().into(),
            (&row.title).into(),
            (&row.metadata).into(),
            (&row.excerpt).into(),
            row.first_line.into(),
        ]
    });
    tx.many(
        "INSERT INTO documents (source, path, content_type, id, hash, version, synced_at, title, metadata, excerpt, first_line)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        params,
    )?;
    Ok(())
}

/// Deletes the documents of files.
pub fn remove_documents<'a>(
    tx: &Tx<'_>,
    source: &str,
    paths: impl IntoIterator<Item = &'a str>,
) -> Result<(), DbError> {
    let params = paths.into_iter().map(|path| [source.into(), path.into()]);
    tx.many("DELETE FROM documents WHERE source = $1 AND path = $2", params)?;
    Ok(())
}

/// Begins a sync of a source: returns its number, which is higher than that of any sync before.
pub fn begin_sync(tx: &Tx<'_>, source: &str) -> Result<i64, DbError> {
    counters::reserve(tx, &format!("syncs:{source}"), 1)
}

/// Ends a sync: what it staged is kept as long as jobs need it.
pub fn end_sync(tx: &Tx<'_>, source: &str, sync: i64) -> Result<(), DbError> {
    counters::raise(tx, &format!("syncs-ended:{source}"), sync)
}

/// Stores the bytes of objects that a sync stages, by hash, until their upload.
pub fn put_bodies<'a>(
    tx: &Tx<'_>,
    source: &str,
    sync: i64,
    bodies: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Result<(), DbError> {
    let params =
        bodies.into_iter().map(|(hash, bytes)| [source.into(), hash.into(), sync.into(), bytes.into()]);
    tx.many(
        "INSERT INTO bodies (source, hash, sync, bytes) VALUES ($1, $2, $3, $4)
         ON CONFLICT (source, hash) DO UPDATE SET sync = excluded.sync",
        params,
    )?;
    Ok(())
}

/// Returns the bytes of an object whose upload is pending.
pub fn body(tx: &Tx<'_>, source: &str, hash: &str) -> Result<Option<Vec<u8>>, DbError> {
    tx.row("SELECT bytes FROM bodies WHERE source = $1 AND hash = $2", [source.into(), hash.into()], |row| {
        row.bytes(0)
    })
}

/// Deletes bytes of a source without a job in `queue`, except those that a running sync has staged: their jobs don't exist
/// yet.
pub fn sweep_bodies(tx: &Tx<'_>, source: &str, queue: &str) -> Result<usize, DbError> {
    let (begun, _) = counters::last(tx, &format!("syncs:{source}"))?;
    let (ended, _) = counters::last(tx, &format!("syncs-ended:{source}"))?;
    // Only the last one can be running.
    let running = if ended < begun { begun } else { i64::MAX };
    tx.execute(
        "DELETE FROM bodies WHERE source = $1 AND sync <> $2 AND NOT EXISTS
             (SELECT 1 FROM jobs WHERE jobs.queue = $3 AND jobs.payload = bodies.hash)",
        [source.into(), running.into(), queue.into()],
    )
}

fn document_row(row: &Row<'_>) -> Result<DocumentRow, DbError> {
    Ok(DocumentRow {
        path: row.text(0)?,
        content_type: row.text(1)?,
        id: row.text(2)?,
        hash: row.text(3)?,
        version: row.text(4)?,
        synced_at: timestamp(row.integer(5)?),
        title: row.text(6)?,
        metadata: row.text(7)?,
        excerpt: row.text(8)?,
        first_line: row.integer(9)?,
    })
}

fn timestamp(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
