//! Embedding vectors of chunks, by model and hash of the embedded text.
//!
//! Sequence numbers increase in commit order, so a reader that continues after the last one it saw misses nothing.
//! Text that a model rejected has an empty vector: it is not pending, readers skip it, and [`retry_rejected`]
//! makes it pending again.

use crate::{DbError, Row, Tx, counters};

/// State of a model's vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelState {
    /// Chunks are being embedded; another model may be in use.
    Filling,
    /// Searches use it.
    Active,
}

/// An embedding model that has vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRow {
    /// Model id.
    pub id: i64,
    /// Identity of the model, as JSON; unique.
    pub identity: String,
    /// Settings as JSON, to load the model again.
    pub settings: String,
    /// State of its vectors.
    pub state: ModelState,
}

/// Chunks with the same text, whose vector is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Hash of the text to embed.
    pub hash: Vec<u8>,
    /// Id of one of the chunks.
    pub chunk: i64,
    /// Number of chunks.
    pub count: i64,
}

/// The vector of a chunk.
#[derive(Debug, Clone)]
pub struct ChunkVector {
    /// Sequence number of the vector.
    pub seq: i64,
    /// The chunk.
    pub chunk: i64,
    /// Its page.
    pub page: i64,
    /// The vector.
    pub vector: Vec<u8>,
}

impl ModelState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Filling => "filling",
            Self::Active => "active",
        }
    }
}

/// All models, oldest first.
pub fn models(tx: &Tx<'_>) -> Result<Vec<ModelRow>, DbError> {
    tx.rows("SELECT id, identity, settings, state FROM models ORDER BY id", [], |row| {
        let state = if row.text(3)? == "active" { ModelState::Active } else { ModelState::Filling };
        Ok(ModelRow { id: row.integer(0)?, identity: row.text(1)?, settings: row.text(2)?, state })
    })
}

/// Finds a model by identity and updates its settings; inserts it if it is new.
pub fn model(tx: &Tx<'_>, identity: &str, settings: &str) -> Result<ModelRow, DbError> {
    let known = models(tx)?.into_iter().find(|model| model.identity == identity);
    let id = match &known {
        Some(model) => model.id,
        None => counters::reserve(tx, "models", 1)?,
    };
    let state = known.map_or(ModelState::Filling, |model| model.state);
    tx.execute(
        "INSERT INTO models (id, identity, settings, state) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET settings = excluded.settings",
        [id.into(), identity.into(), settings.into(), state.as_str().into()],
    )?;
    Ok(ModelRow { id, identity: identity.to_owned(), settings: settings.to_owned(), state })
}

/// Makes a model the active one, and deletes all others with their vectors.
pub fn activate(tx: &Tx<'_>, model: i64) -> Result<(), DbError> {
    tx.execute("DELETE FROM vectors WHERE model <> $1", [model.into()])?;
    tx.execute("DELETE FROM models WHERE id <> $1", [model.into()])?;
    tx.execute("UPDATE models SET state = 'active' WHERE id = $1", [model.into()])?;
    Ok(())
}

/// Chunks without a vector, grouped by text, at most `max` groups. The first chunks of all pages come before the
/// second of any, so that every page can soon be found by its beginning.
pub fn pending(tx: &Tx<'_>, model: i64, max: usize) -> Result<Vec<Pending>, DbError> {
    tx.rows(
        "SELECT c.hash, min(c.id), count(*) FROM
             (SELECT id, hash, row_number() OVER (PARTITION BY page ORDER BY id) AS place FROM chunks) c
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = $1 AND v.hash = c.hash)
         GROUP BY c.hash ORDER BY min(c.place), min(c.id) LIMIT $2",
        [model.into(), i64::try_from(max).unwrap_or(i64::MAX).into()],
        |row| Ok(Pending { hash: row.bytes(0)?, chunk: row.integer(1)?, count: row.integer(2)? }),
    )
}

/// Number of chunks without a vector.
pub fn count_pending(tx: &Tx<'_>, model: i64) -> Result<i64, DbError> {
    let found = tx.row(
        "SELECT count(*) FROM chunks c
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = $1 AND v.hash = c.hash)",
        [model.into()],
        |row| row.integer(0),
    )?;
    Ok(found.unwrap_or_default())
}

/// Inserts vectors; existing ones are kept. An empty vector means that the model rejected the text.
pub fn put(tx: &Tx<'_>, model: i64, vectors: &[(Vec<u8>, Vec<u8>)]) -> Result<(), DbError> {
    let first = counters::reserve(tx, "vectors", vectors.len())?;
    tx.many(
        "INSERT INTO vectors (seq, model, hash, vector) VALUES ($1, $2, $3, $4)
         ON CONFLICT (model, hash) DO NOTHING",
        (first..)
            .zip(vectors)
            .map(|(seq, (hash, vector))| [seq.into(), model.into(), hash.into(), vector.into()]),
    )?;
    Ok(())
}

/// Vectors of a model after sequence number `seq`, one row per chunk.
pub fn after(tx: &Tx<'_>, model: i64, seq: i64) -> Result<Vec<ChunkVector>, DbError> {
    tx.rows(
        "SELECT v.seq, c.id, c.page, v.vector FROM vectors v JOIN chunks c ON c.hash = v.hash
         WHERE v.model = $1 AND v.seq > $2 AND length(v.vector) > 0 ORDER BY v.seq",
        [model.into(), seq.into()],
        chunk_vector,
    )
}

/// Vectors of the chunks of pages.
pub fn of_pages(tx: &Tx<'_>, model: i64, pages: &[i64]) -> Result<Vec<ChunkVector>, DbError> {
    let found = tx.rows_of_each(
        "SELECT v.seq, c.id, c.page, v.vector FROM chunks c JOIN vectors v ON v.hash = c.hash
         WHERE c.page = $1 AND v.model = $2 AND length(v.vector) > 0 ORDER BY c.id",
        pages.iter().map(|page| [(*page).into(), model.into()]),
        chunk_vector,
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// Makes rejected text pending again; returns how many.
pub fn retry_rejected(tx: &Tx<'_>, model: i64) -> Result<usize, DbError> {
    tx.execute("DELETE FROM vectors WHERE model = $1 AND length(vector) = 0", [model.into()])
}

/// Last sequence number ever issued; 0 if none.
pub fn last(tx: &Tx<'_>) -> Result<i64, DbError> {
    let found = tx.row("SELECT value FROM counters WHERE name = 'vectors'", [], |row| row.integer(0))?;
    Ok(found.unwrap_or_default())
}

/// Deletes vectors without chunks; returns how many.
pub fn sweep(tx: &Tx<'_>) -> Result<usize, DbError> {
    tx.execute(
        "DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.hash = vectors.hash)",
        [],
    )
}

/// The active model, if any.
pub fn active(tx: &Tx<'_>) -> Result<Option<i64>, DbError> {
    tx.row("SELECT id FROM models WHERE state = 'active'", [], |row| row.integer(0))
}

/// Text to embed of the given chunks: chunk id, page id, headings and text.
pub fn texts(tx: &Tx<'_>, chunks: &[i64]) -> Result<Vec<(i64, i64, String, String)>, DbError> {
    let found = tx.rows_of_each(
        "SELECT id, page, heading, text FROM chunks WHERE id = $1",
        chunks.iter().map(|chunk| [(*chunk).into()]),
        |row| Ok((row.integer(0)?, row.integer(1)?, row.text(2)?, row.text(3)?)),
    )?;
    Ok(found.into_iter().flatten().collect())
}

fn chunk_vector(row: &Row<'_>) -> Result<ChunkVector, DbError> {
    Ok(ChunkVector {
        seq: row.integer(0)?,
        chunk: row.integer(1)?,
        page: row.integer(2)?,
        vector: row.bytes(3)?,
    })
}
