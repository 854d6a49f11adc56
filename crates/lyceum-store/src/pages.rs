//! Pages and chunks of search: the canonical data that its indexes are rebuilt from.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::{
    DbError, Row, Tx, counters,
    events::{self, EventKind},
    vectors,
};

/// Event stream of the pages of an index; the key of an event is a page id.
pub fn stream(index: i64) -> String {
    format!("pages:{index}")
}

/// Finds an index by name; `None` if it doesn't exist yet.
pub fn find_index(tx: &Tx<'_>, name: &str) -> Result<Option<i64>, DbError> {
    tx.row("SELECT id FROM indexes WHERE name = $1", [name.into()], |row| row.integer(0))
}

/// Finds an index by name, or creates it.
pub fn create_index(tx: &Tx<'_>, name: &str) -> Result<i64, DbError> {
    if let Some(known) = find_index(tx, name)? {
        return Ok(known);
    }
    let id = counters::reserve(tx, "indexes", 1)?;
    tx.execute("INSERT INTO indexes (id, name) VALUES ($1, $2)", [id.into(), name.into()])?;
    Ok(id)
}

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
pub fn versions(tx: &Tx<'_>, index: i64, source: &str) -> Result<Vec<(String, String)>, DbError> {
    tx.rows(
        "SELECT key, version FROM pages WHERE index_id = $1 AND source = $2",
        [index.into(), source.into()],
        |row| Ok((row.text(0)?, row.text(1)?)),
    )
}

/// Inserts or replaces pages, deletes others, and appends the events. Of several with one key, the last is stored.
pub fn apply(
    tx: &Tx<'_>,
    index: i64,
    source: &str,
    stored: &[PageRow],
    removed: &[String],
    now: Timestamp,
) -> Result<(), DbError> {
    let mut seen = HashSet::with_capacity(stored.len());
    let mut stored: Vec<&PageRow> = stored.iter().rev().filter(|page| seen.insert(&page.key)).collect();
    stored.reverse();
    let removed = ids(tx, index, source, removed.iter())?.into_iter().flatten().collect::<Vec<i64>>();
    let known = ids(tx, index, source, stored.iter().map(|page| &page.key))?;
    let new = known.iter().filter(|id| id.is_none()).count();
    let mut new_ids = counters::reserve(tx, "pages", new)?..;
    let stored: Vec<(i64, &PageRow)> =
        known.into_iter().map(|id| id.or_else(|| new_ids.next()).unwrap_or_default()).zip(stored).collect();
    let of = |id: &i64| [(*id).into()];
    tx.many("DELETE FROM pages WHERE id = $1", removed.iter().map(of))?;
    let replaced = removed.iter().chain(stored.iter().map(|(id, _)| id));
    tx.many("DELETE FROM chunks WHERE page = $1", replaced.map(of))?;
    tx.many(
        "INSERT INTO pages (id, index_id, source, key, version, facts) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET version = excluded.version, facts = excluded.facts",
        stored.iter().map(|(id, page)| {
            let (key, version, facts) = ((&page.key).into(), (&page.version).into(), (&page.facts).into());
            [(*id).into(), index.into(), source.into(), key, version, facts]
        }),
    )?;
    let chunks = stored.iter().flat_map(|(id, page)| page.chunks.iter().map(move |chunk| (*id, chunk)));
    let first = counters::reserve(tx, "chunks", chunks.clone().count())?;
    tx.many(
        "INSERT INTO chunks (id, page, hash, heading, first_line, last_line, text)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        (first..).zip(chunks).map(|(id, (page, row))| {
            [
                id.into(),
                page.into(),
                (&row.hash).into(),
                (&row.heading).into(),
                row.first_line.into(),
                row.last_line.into(),
                (&row.text).into(),
            ]
        }),
    )?;
    let of_pages: Vec<&[ChunkRow]> = stored.iter().map(|(_, page)| page.chunks.as_slice()).collect();
    vectors::enqueue(tx, index, first, &of_pages)?;
    let gone = removed.iter().map(|id| (EventKind::Removed, id.to_string()));
    let changes: Vec<_> =
        gone.chain(stored.iter().map(|(id, _)| (EventKind::Stored, id.to_string()))).collect();
    events::append(tx, &stream(index), changes.iter().map(|(kind, id)| (*kind, id.as_str())), now)?;
    Ok(())
}

/// All pages of an index.
pub fn all(tx: &Tx<'_>, index: i64) -> Result<Vec<StoredPage>, DbError> {
    tx.rows("SELECT id, source, facts FROM pages WHERE index_id = $1 ORDER BY id", [index.into()], |row| {
        Ok(StoredPage { id: row.integer(0)?, source: row.text(1)?, facts: row.text(2)? })
    })
}

/// Finds pages by id; `None` for one that doesn't exist.
pub fn pages(tx: &Tx<'_>, ids: &[i64]) -> Result<Vec<Option<StoredPage>>, DbError> {
    let found = tx.rows_of_each(
        "SELECT id, source, facts FROM pages WHERE id = $1",
        ids.iter().map(|id| [(*id).into()]),
        |row| Ok(StoredPage { id: row.integer(0)?, source: row.text(1)?, facts: row.text(2)? }),
    )?;
    Ok(found.into_iter().map(|rows| rows.into_iter().next()).collect())
}

/// The chunks of each page, in order, each with its id.
pub fn chunks(tx: &Tx<'_>, pages: &[i64]) -> Result<Vec<Vec<(i64, ChunkRow)>>, DbError> {
    tx.rows_of_each(
        "SELECT id, hash, heading, first_line, last_line, text FROM chunks WHERE page = $1 ORDER BY id",
        pages.iter().map(|page| [(*page).into()]),
        read_chunk,
    )
}

/// For each page, the chunk with the highest score, and that score; the first one on a tie.
pub fn best_chunks(
    tx: &Tx<'_>,
    pages: &[i64],
    score: impl Fn(&str) -> usize,
) -> Result<Vec<Option<(i64, usize)>>, DbError> {
    let all = tx.rows_of_each(
        "SELECT id, text FROM chunks WHERE page = $1 ORDER BY id",
        pages.iter().map(|page| [(*page).into()]),
        |row| Ok((row.integer(0)?, score(row.text_ref(1)?))),
    )?;
    Ok(all.into_iter().map(|rows| rows.into_iter().rev().max_by_key(|(_, score)| *score)).collect())
}

/// Finds chunks by id; `None` for one that doesn't exist.
pub fn chunks_by_id(tx: &Tx<'_>, ids: &[i64]) -> Result<Vec<Option<ChunkRow>>, DbError> {
    let found = tx.rows_of_each(
        "SELECT id, hash, heading, first_line, last_line, text FROM chunks WHERE id = $1",
        ids.iter().map(|id| [(*id).into()]),
        |row| Ok(read_chunk(row)?.1),
    )?;
    Ok(found.into_iter().map(|rows| rows.into_iter().next()).collect())
}

/// Number of pages and chunks of an index.
pub fn count(tx: &Tx<'_>, index: i64) -> Result<(i64, i64), DbError> {
    let found = tx.row(
        "SELECT (SELECT count(*) FROM pages WHERE index_id = $1),
             (SELECT count(*) FROM chunks c JOIN pages p ON p.id = c.page WHERE p.index_id = $1)",
        [index.into()],
        |row| Ok((row.integer(0)?, row.integer(1)?)),
    )?;
    Ok(found.unwrap_or_default())
}

/// The id of the page with each key, if it exists.
fn ids<'a>(
    tx: &Tx<'_>,
    index: i64,
    source: &str,
    keys: impl IntoIterator<Item = &'a String>,
) -> Result<Vec<Option<i64>>, DbError> {
    let found = tx.rows_of_each(
        "SELECT id FROM pages WHERE index_id = $1 AND source = $2 AND key = $3",
        keys.into_iter().map(|key| [index.into(), source.into(), key.into()]),
        |row| row.integer(0),
    )?;
    Ok(found.into_iter().map(|rows| rows.first().copied()).collect())
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
