//! Pages and chunks of search: the canonical data that its indexes are rebuilt from.

use jiff::Timestamp;

use crate::{
    DbError, Row, Tx, counters,
    events::{self, EventKind},
};

/// Event stream of pages; the key of an event is a page id.
pub const STREAM: &str = "pages";

/// A page to be stored.
#[derive(Debug, Clone)]
pub struct PageRow {
    /// `type/id`, unique within its source.
    pub key: String,
    /// Fingerprint of the whole page.
    pub version: String,
    /// Metadata as JSON.
    pub facts: String,
    /// Its chunks, in order.
    pub chunks: Vec<ChunkRow>,
}

/// A chunk.
#[derive(Debug, Clone)]
pub struct ChunkRow {
    /// Hash of the text that is embedded.
    pub hash: Vec<u8>,
    /// The headings around it.
    pub heading: String,
    /// Its first line.
    pub first_line: i64,
    /// Its last line.
    pub last_line: i64,
    /// Its text.
    pub text: String,
}

/// A stored page.
#[derive(Debug, Clone)]
pub struct StoredPage {
    /// Page id, stable for the lifetime of the page.
    pub id: i64,
    /// Its source.
    pub source: String,
    /// Metadata as JSON.
    pub facts: String,
}

/// Returns the version of each page of a source, by key.
pub fn versions(tx: &Tx<'_>, source: &str) -> Result<Vec<(String, String)>, DbError> {
    tx.rows("SELECT key, version FROM pages WHERE source = $1", [source.into()], |row| {
        Ok((row.text(0)?, row.text(1)?))
    })
}

/// Inserts or replaces pages, deletes others, and appends the events.
pub fn apply(
    tx: &Tx<'_>,
    source: &str,
    stored: &[PageRow],
    removed: &[String],
    now: Timestamp,
) -> Result<(), DbError> {
    let mut changes = Vec::with_capacity(stored.len() + removed.len());
    for key in removed {
        if let Some(id) = id_of(tx, source, key)? {
            tx.execute("DELETE FROM chunks WHERE page = $1", [id.into()])?;
            tx.execute("DELETE FROM pages WHERE id = $1", [id.into()])?;
            changes.push((EventKind::Removed, id.to_string()));
        }
    }
    let mut chunk = counters::reserve(tx, "chunks", stored.iter().map(|page| page.chunks.len()).sum())?;
    for page in stored {
        let id = match id_of(tx, source, &page.key)? {
            Some(id) => id,
            None => counters::reserve(tx, "pages", 1)?,
        };
        tx.execute(
            "INSERT INTO pages (id, source, key, version, facts) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (id) DO UPDATE SET version = excluded.version, facts = excluded.facts",
            [
                id.into(),
                source.into(),
                page.key.as_str().into(),
                page.version.as_str().into(),
                page.facts.as_str().into(),
            ],
        )?;
        tx.execute("DELETE FROM chunks WHERE page = $1", [id.into()])?;
        for row in &page.chunks {
            tx.execute(
                "INSERT INTO chunks (id, page, hash, heading, first_line, last_line, text)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
                [
                    chunk.into(),
                    id.into(),
                    row.hash.as_slice().into(),
                    row.heading.as_str().into(),
                    row.first_line.into(),
                    row.last_line.into(),
                    row.text.as_str().into(),
                ],
            )?;
            chunk += 1;
        }
        changes.push((EventKind::Stored, id.to_string()));
    }
    events::append(tx, STREAM, changes.iter().map(|(kind, id)| (*kind, id.as_str())), now)
}

/// All pages.
pub fn all(tx: &Tx<'_>) -> Result<Vec<StoredPage>, DbError> {
    tx.rows("SELECT id, source, facts FROM pages ORDER BY id", [], |row| {
        Ok(StoredPage { id: row.integer(0)?, source: row.text(1)?, facts: row.text(2)? })
    })
}

/// Finds a page by id.
pub fn page(tx: &Tx<'_>, id: i64) -> Result<Option<StoredPage>, DbError> {
    tx.row("SELECT id, source, facts FROM pages WHERE id = $1", [id.into()], |row| {
        Ok(StoredPage { id: row.integer(0)?, source: row.text(1)?, facts: row.text(2)? })
    })
}

/// The chunks of a page, in order, each with its id.
pub fn chunks(tx: &Tx<'_>, page: i64) -> Result<Vec<(i64, ChunkRow)>, DbError> {
    tx.rows(
        "SELECT id, hash, heading, first_line, last_line, text FROM chunks WHERE page = $1 ORDER BY id",
        [page.into()],
        read_chunk,
    )
}

/// Returns the chunk of a page with the highest score, and that score; the first one on a tie.
pub fn best_chunk(
    tx: &Tx<'_>,
    page: i64,
    score: impl Fn(&str) -> usize,
) -> Result<Option<(i64, usize)>, DbError> {
    let read = |row: &Row<'_>| Ok((row.integer(0)?, score(row.text_ref(1)?)));
    let sql = "SELECT id, text FROM chunks WHERE page = $1 ORDER BY id";
    let all = tx.rows(sql, [page.into()], read)?;
    Ok(all.into_iter().rev().max_by_key(|(_, score)| *score))
}

/// Finds a chunk by id.
pub fn chunk(tx: &Tx<'_>, id: i64) -> Result<Option<ChunkRow>, DbError> {
    tx.row(
        "SELECT id, hash, heading, first_line, last_line, text FROM chunks WHERE id = $1",
        [id.into()],
        |row| Ok(read_chunk(row)?.1),
    )
}

/// Number of pages and chunks.
pub fn count(tx: &Tx<'_>) -> Result<(i64, i64), DbError> {
    let found = tx.row("SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM chunks)", [], |row| {
        Ok((row.integer(0)?, row.integer(1)?))
    })?;
    Ok(found.unwrap_or_default())
}

fn id_of(tx: &Tx<'_>, source: &str, key: &str) -> Result<Option<i64>, DbError> {
    tx.row("SELECT id FROM pages WHERE source = $1 AND key = $2", [source.into(), key.into()], |row| {
        row.integer(0)
    })
}

fn read_chunk(row: &Row<'_>) -> Result<(i64, ChunkRow), DbError> {
    let chunk = ChunkRow {
        hash: row.bytes(1)?,
        heading: row.text(2)?,
        first_line: row.integer(3)?,
        last_line: row.integer(4)?,
        text: row.text(5)?,
    };
    Ok((row.integer(0)?, chunk))
}
