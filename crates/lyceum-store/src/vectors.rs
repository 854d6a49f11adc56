//! Vectors of chunks, by the model that made them and the hash of what it was given.
//!
//! Numbers rise in the order of the commits, so that whoever knows the last one it saw misses nothing. What a model does
//! not take has a vector without numbers: nothing waits for it, nobody is given it, and it is tried again by [`forgive`].

use crate::{DbError, Tx, counters};

/// How far the vectors of a model are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelState {
    /// Chunks are being turned into vectors; another model may be in use.
    Filling,
    /// Searches use it.
    Active,
}

/// A model that vectors are kept of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRow {
    /// Its number.
    pub id: i64,
    /// What tells it from every other, as JSON.
    pub identity: String,
    /// How it was set up, as JSON, to set it up once more.
    pub settings: String,
    /// How far it is.
    pub state: ModelState,
}

/// Chunks whose vector is wanting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The hash of what a model is given of them.
    pub hash: Vec<u8>,
    /// One of them.
    pub chunk: i64,
    /// How many there are.
    pub count: i64,
}

/// A vector that belongs to a chunk.
#[derive(Debug, Clone)]
pub struct ChunkVector {
    /// The number of the vector.
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

/// Every model, in the order they came.
pub fn models(tx: &Tx<'_>) -> Result<Vec<ModelRow>, DbError> {
    tx.rows("SELECT id, identity, settings, state FROM models ORDER BY id", [], |row| {
        let state = if row.text(3)? == "active" { ModelState::Active } else { ModelState::Filling };
        Ok(ModelRow { id: row.whole(0)?, identity: row.text(1)?, settings: row.text(2)?, state })
    })
}

/// The number of a model; one that is new is written down.
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

/// From now on searches use this model; the vectors of every other are taken away.
pub fn activate(tx: &Tx<'_>, model: i64) -> Result<(), DbError> {
    tx.execute("DELETE FROM vectors WHERE model <> $1", [model.into()])?;
    tx.execute("DELETE FROM models WHERE id <> $1", [model.into()])?;
    tx.execute("UPDATE models SET state = 'active' WHERE id = $1", [model.into()])?;
    Ok(())
}

/// Chunks whose vectors are wanting, together where a model is given the same of them. The first chunks of all pages come
/// before the second of any, so that every page is soon found by how it begins.
pub fn pending(tx: &Tx<'_>, model: i64, most: usize) -> Result<Vec<Pending>, DbError> {
    tx.rows(
        "SELECT c.hash, min(c.id), count(*) FROM
             (SELECT id, hash, row_number() OVER (PARTITION BY page ORDER BY id) AS place FROM chunks) c
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = $1 AND v.hash = c.hash)
         GROUP BY c.hash ORDER BY min(c.place), min(c.id) LIMIT $2",
        [model.into(), i64::try_from(most).unwrap_or(i64::MAX).into()],
        |row| Ok(Pending { hash: row.bytes(0)?, chunk: row.whole(1)?, count: row.whole(2)? }),
    )
}

/// How many chunks have no vector yet.
pub fn count_pending(tx: &Tx<'_>, model: i64) -> Result<i64, DbError> {
    let found = tx.row(
        "SELECT count(*) FROM chunks c
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = $1 AND v.hash = c.hash)",
        [model.into()],
        |row| row.whole(0),
    )?;
    Ok(found.unwrap_or_default())
}

/// Keeps vectors; one that is there already stays. One without numbers says that the model does not take it.
pub fn put(tx: &Tx<'_>, model: i64, vectors: &[(Vec<u8>, Vec<u8>)]) -> Result<(), DbError> {
    let first = counters::reserve(tx, "vectors", vectors.len())?;
    for (seq, (hash, vector)) in (first..).zip(vectors) {
        tx.execute(
            "INSERT INTO vectors (seq, model, hash, vector) VALUES ($1, $2, $3, $4)
             ON CONFLICT (model, hash) DO NOTHING",
            [seq.into(), model.into(), hash.as_slice().into(), vector.as_slice().into()],
        )?;
    }
    Ok(())
}

/// The vectors of a model after a number, each with every chunk that it belongs to.
pub fn after(tx: &Tx<'_>, model: i64, seq: i64) -> Result<Vec<ChunkVector>, DbError> {
    tx.rows(
        "SELECT v.seq, c.id, c.page, v.vector FROM vectors v JOIN chunks c ON c.hash = v.hash
         WHERE v.model = $1 AND v.seq > $2 AND length(v.vector) > 0 ORDER BY v.seq",
        [model.into(), seq.into()],
        |row| {
            Ok(ChunkVector {
                seq: row.whole(0)?,
                chunk: row.whole(1)?,
                page: row.whole(2)?,
                vector: row.bytes(3)?,
            })
        },
    )
}

/// The vectors of the chunks of a page.
pub fn of_page(tx: &Tx<'_>, model: i64, page: i64) -> Result<Vec<ChunkVector>, DbError> {
    tx.rows(
        "SELECT v.seq, c.id, c.page, v.vector FROM chunks c JOIN vectors v ON v.hash = c.hash
         WHERE c.page = $1 AND v.model = $2 AND length(v.vector) > 0 ORDER BY c.id",
        [page.into(), model.into()],
        |row| {
            Ok(ChunkVector {
                seq: row.whole(0)?,
                chunk: row.whole(1)?,
                page: row.whole(2)?,
                vector: row.bytes(3)?,
            })
        },
    )
}

/// Has what a model did not take tried again, and says how much that is.
pub fn forgive(tx: &Tx<'_>, model: i64) -> Result<usize, DbError> {
    tx.execute("DELETE FROM vectors WHERE model = $1 AND length(vector) = 0", [model.into()])
}

/// The number of the last vector that was ever kept; 0 before the first.
pub fn last(tx: &Tx<'_>) -> Result<i64, DbError> {
    let found = tx.row("SELECT value FROM counters WHERE name = 'vectors'", [], |row| row.whole(0))?;
    Ok(found.unwrap_or_default())
}

/// Takes away vectors that no chunk has any more, and says how many.
pub fn sweep(tx: &Tx<'_>) -> Result<usize, DbError> {
    tx.execute(
        "DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.hash = vectors.hash)",
        [],
    )
}

/// The model that searches use, if there is one.
pub fn active(tx: &Tx<'_>) -> Result<Option<i64>, DbError> {
    tx.row("SELECT id FROM models WHERE state = 'active'", [], |row| row.whole(0))
}

/// What a model is to be given of these chunks: the chunk, its page, its headings and its text.
pub fn texts(tx: &Tx<'_>, chunks: &[i64]) -> Result<Vec<(i64, i64, String, String)>, DbError> {
    let mut all = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let found =
            tx.row("SELECT id, page, heading, text FROM chunks WHERE id = $1", [(*chunk).into()], |row| {
                Ok((row.whole(0)?, row.whole(1)?, row.text(2)?, row.text(3)?))
            })?;
        all.extend(found);
    }
    Ok(all)
}
