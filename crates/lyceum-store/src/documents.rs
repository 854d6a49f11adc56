//! What is known of the sources of a knowledge base: each file, and each document that is served.

use jiff::Timestamp;

use crate::{DbError, Row, Tx};

/// A source and how far it is synced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceRow {
    /// The commit that is served, or what stands for one.
    pub version: Option<String>,
    /// When it was synced.
    pub synced_at: Option<Timestamp>,
    /// Stands for the rules that its files were read by.
    pub rules: String,
    /// How often someone asked for news.
    pub wanted: i64,
    /// How many of these times are answered.
    pub done: i64,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileState {
    /// It is served.
    Published,
    /// It is a draft.
    Draft,
    /// It is not meant to be served.
    Unpublished,
    /// It can't be served as it is; `reason` says why.
    Skipped,
    /// It could not be read; `reason` says why, and it is tried again while `due` says when.
    Failed,
}

/// A file of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its path.
    pub path: String,
    /// Stands for its content without reading it; nothing where it has to be read again.
    pub stamp: Option<String>,
    /// The hash of its content.
    pub digest: Option<String>,
    /// Its type.
    pub content_type: String,
    /// What became of it.
    pub state: FileState,
    /// Why, where it is not served and did not ask for that.
    pub reason: Option<String>,
    /// What is not as its type has it, as JSON.
    pub faults: Option<String>,
    /// How often reading it failed.
    pub attempts: i64,
    /// When it is tried again.
    pub due: Option<Timestamp>,
}

/// A document that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRow {
    /// Its file.
    pub path: String,
    /// Its type.
    pub content_type: String,
    /// Its id.
    pub id: String,
    /// The hash of the object that holds it.
    pub hash: String,
    /// The commit it was synced at; for a folder, `tree-` and a hash of its files.
    pub version: String,
    /// When that was.
    pub synced_at: Timestamp,
    /// Its title.
    pub title: String,
    /// The fields of its frontmatter, as JSON.
    pub metadata: String,
    /// Its first paragraph.
    pub excerpt: String,
    /// The line of the file that its text begins on, from 1 on.
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
        found.ok_or_else(|| DbError::Content(format!("a file in the state {text:?}")))
    }
}

/// What is known of a source; nothing but defaults where it was never synced.
pub fn source(tx: &Tx<'_>, name: &str) -> Result<SourceRow, DbError> {
    let found = tx.row(
        "SELECT version, synced_at, rules, wanted, done FROM sources WHERE name = $1",
        [name.into()],
        |row| {
            Ok(SourceRow {
                version: row.maybe_text(0)?,
                synced_at: row.maybe_whole(1)?.map(moment),
                rules: row.text(2)?,
                wanted: row.whole(3)?,
                done: row.whole(4)?,
            })
        },
    )?;
    Ok(found.unwrap_or_default())
}

/// Asks for news of a source.
pub fn want(tx: &Tx<'_>, name: &str) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO sources (name, rules, wanted, done) VALUES ($1, '', 1, 0)
         ON CONFLICT (name) DO UPDATE SET wanted = sources.wanted + 1",
        [name.into()],
    )?;
    Ok(())
}

/// Writes down how far a source is synced. What was asked for meanwhile stays asked for.
pub fn put_source(tx: &Tx<'_>, name: &str, row: &SourceRow) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO sources (name, version, synced_at, rules, wanted, done) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version, synced_at = excluded.synced_at,
             rules = excluded.rules, done = excluded.done",
        [
            name.into(),
            row.version.as_ref().into(),
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
                attempts: row.whole(7)?,
                due: row.maybe_whole(8)?.map(moment),
            })
        },
    )
}

/// How many files of a source are in each state.
pub fn count_files(tx: &Tx<'_>, source: &str) -> Result<Vec<(FileState, i64)>, DbError> {
    tx.rows(
        "SELECT state, count(*) FROM files WHERE source = $1 GROUP BY state ORDER BY state",
        [source.into()],
        |row| Ok((FileState::parse(&row.text(0)?)?, row.whole(1)?)),
    )
}

/// When a file that could not be read is tried again, if one is.
pub fn next_due(tx: &Tx<'_>, source: &str) -> Result<Option<Timestamp>, DbError> {
    let found =
        tx.row("SELECT min(due) FROM files WHERE source = $1 AND due IS NOT NULL", [source.into()], |row| {
            row.maybe_whole(0)
        })?;
    Ok(found.flatten().map(moment))
}

/// Writes down what became of a file.
pub fn put_file(tx: &Tx<'_>, source: &str, row: &FileRow) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO files (source, path, stamp, digest, content_type, state, reason, faults, attempts, due)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (source, path) DO UPDATE SET stamp = excluded.stamp, digest = excluded.digest,
             content_type = excluded.content_type, state = excluded.state, reason = excluded.reason,
             faults = excluded.faults, attempts = excluded.attempts, due = excluded.due",
        [
            source.into(),
            row.path.as_str().into(),
            row.stamp.as_ref().into(),
            row.digest.as_ref().into(),
            row.content_type.as_str().into(),
            row.state.as_str().into(),
            row.reason.as_ref().into(),
            row.faults.as_ref().into(),
            row.attempts.into(),
            row.due.map(Timestamp::as_millisecond).into(),
        ],
    )?;
    Ok(())
}

/// Forgets what is known of the content of a file, so that it is read again.
pub fn forget_content(tx: &Tx<'_>, source: &str, path: &str) -> Result<(), DbError> {
    tx.execute(
        "UPDATE files SET stamp = NULL, digest = NULL WHERE source = $1 AND path = $2",
        [source.into(), path.into()],
    )?;
    Ok(())
}

/// Forgets a file that is gone.
pub fn remove_file(tx: &Tx<'_>, source: &str, path: &str) -> Result<(), DbError> {
    tx.execute("DELETE FROM files WHERE source = $1 AND path = $2", [source.into(), path.into()])?;
    Ok(())
}

const DOCUMENT: &str = "SELECT path, content_type, id, hash, version, synced_at, title, metadata, excerpt, first_line \
     FROM documents";

/// Every document of a source that is served.
pub fn documents(tx: &Tx<'_>, source: &str) -> Result<Vec<DocumentRow>, DbError> {
    tx.rows(&format!("{DOCUMENT} WHERE source = $1 ORDER BY path"), [source.into()], document_row)
}

/// The document of that type and id.
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

/// Writes down a document. Whoever replaces several takes all of them away first, for they may change places.
pub fn put_document(tx: &Tx<'_>, source: &str, row: &DocumentRow) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO documents (source, path, content_type, id, hash, version, synced_at, title, metadata, excerpt, first_line)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        [
            source.into(),
            row.path.as_str().into(),
            row.content_type.as_str().into(),
            row.id.as_str().into(),
            row.hash.as_str().into(),
            row.version.as_str().into(),
            row.synced_at.as_millisecond().into(),
            row.title.as_str().into(),
            row.metadata.as_str().into(),
            row.excerpt.as_str().into(),
            row.first_line.into(),
        ],
    )?;
    Ok(())
}

/// Takes the document of a file away.
pub fn remove_document(tx: &Tx<'_>, source: &str, path: &str) -> Result<(), DbError> {
    tx.execute("DELETE FROM documents WHERE source = $1 AND path = $2", [source.into(), path.into()])?;
    Ok(())
}

/// Keeps the bytes of an object until they are in the object store.
pub fn put_body(tx: &Tx<'_>, hash: &str, bytes: &[u8]) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO bodies (hash, bytes) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING",
        [hash.into(), bytes.into()],
    )?;
    Ok(())
}

/// The bytes of an object that are not known to be in the object store yet.
pub fn body(tx: &Tx<'_>, hash: &str) -> Result<Option<Vec<u8>>, DbError> {
    tx.row("SELECT bytes FROM bodies WHERE hash = $1", [hash.into()], |row| row.bytes(0))
}

/// Takes bytes away that no job of a queue is about. Not while a sync stages some: they are not asked for yet.
pub fn sweep_bodies(tx: &Tx<'_>, queue: &str) -> Result<usize, DbError> {
    tx.execute(
        "DELETE FROM bodies WHERE NOT EXISTS
             (SELECT 1 FROM jobs WHERE jobs.queue = $1 AND jobs.payload = bodies.hash)",
        [queue.into()],
    )
}

fn document_row(row: &Row<'_>) -> Result<DocumentRow, DbError> {
    Ok(DocumentRow {
        path: row.text(0)?,
        content_type: row.text(1)?,
        id: row.text(2)?,
        hash: row.text(3)?,
        version: row.text(4)?,
        synced_at: moment(row.whole(5)?),
        title: row.text(6)?,
        metadata: row.text(7)?,
        excerpt: row.text(8)?,
        first_line: row.whole(9)?,
    })
}

fn moment(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}
