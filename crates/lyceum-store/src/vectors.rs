//! Embedding vectors of chunks, by model and hash of the embedded text.
//!
//! Each batch of vectors is an event of the index's stream and has its sequence number, so a reader that continues after
//! the last one it saw misses nothing. What is to be embedded is in a queue per model. Text that a model rejected has an
//! empty vector: it is not pending, readers skip it, and [`retry_rejected`] makes it pending again.

use jiff::Timestamp;

use crate::{
    DbError, Row, Tx, counters,
    events::{self, EventKind},
    pages::ChunkRow,
};

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
    /// Id of one of the chunks; `None` if none has this text any more.
    pub chunk: Option<i64>,
    /// Number of chunks.
    pub count: i64,
}

/// The vector of a chunk.
#[derive(Debug, Clone)]
pub struct ChunkVector {
    /// Sequence number of its batch.
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

/// Event stream of the vectors of an index: one event per batch; its key is the model.
pub fn stream(index: i64) -> String {
    format!("vectors:{index}")
}

/// All models of an index, oldest first.
pub fn models(tx: &Tx<'_>, index: i64) -> Result<Vec<ModelRow>, DbError> {
    tx.rows(
        "SELECT id, identity, settings, state FROM models WHERE index_id = $1 ORDER BY id",
        [index.into()],
        |row| {
            let state = if row.text(3)? == "active" { ModelState::Active } else { ModelState::Filling };
            Ok(ModelRow { id: row.integer(0)?, identity: row.text(1)?, settings: row.text(2)?, state })
        },
    )
}

/// Finds a model by identity and updates its settings; inserts it if it is new, with all chunks pending.
pub fn model(tx: &Tx<'_>, index: i64, identity: &str, settings: &str) -> Result<ModelRow, DbError> {
    let known = models(tx, index)?.into_iter().find(|model| model.identity == identity);
    let is_new = known.is_none();
    let id = match &known {
        Some(model) => model.id,
        None => counters::reserve(tx, "models", 1)?,
    };
    let state = known.map_or(ModelState::Filling, |model| model.state);
    tx.execute(
        "INSERT INTO models (id, index_id, identity, settings, state) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (id) DO UPDATE SET settings = excluded.settings",
        [id.into(), index.into(), identity.into(), settings.into(), state.as_str().into()],
    )?;
    if is_new {
        tx.execute(
            "INSERT INTO pending (model, hash, place, chunk)
             SELECT $1, c.hash, min(c.place), min(c.id) FROM
                 (SELECT id, page, hash, row_number() OVER (PARTITION BY page ORDER BY id) AS place FROM chunks) c
             JOIN pages p ON p.id = c.page WHERE p.index_id = $2 GROUP BY c.hash",
            [id.into(), index.into()],
        )?;
    }
    Ok(ModelRow { id, identity: identity.to_owned(), settings: settings.to_owned(), state })
}

/// Makes a model the active one, and deletes all others of the index with their vectors.
pub fn activate(tx: &Tx<'_>, index: i64, model: i64) -> Result<(), DbError> {
    for other in models(tx, index)?.into_iter().filter(|other| other.id != model) {
        tx.execute("DELETE FROM vectors WHERE model = $1", [other.id.into()])?;
        tx.execute("DELETE FROM pending WHERE model = $1", [other.id.into()])?;
        tx.execute("DELETE FROM models WHERE id = $1", [other.id.into()])?;
    }
    tx.execute("UPDATE models SET state = 'active' WHERE id = $1", [model.into()])?;
    Ok(())
}

/// Makes the chunks of stored pages pending for all models of the index, unless they have a vector. Their ids count up from
/// `first`.
pub(crate) fn enqueue(tx: &Tx<'_>, index: i64, first: i64, pages: &[&[ChunkRow]]) -> Result<(), DbError> {
    for model in models(tx, index)? {
        let chunks = pages.iter().flat_map(|chunks| (1_i64..).zip(*chunks));
        tx.many(
            "INSERT INTO pending (model, hash, place, chunk) SELECT $1, $2, $3, $4
             WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE model = $1 AND hash = $2)
             ON CONFLICT (model, hash) DO NOTHING",
            (first..)
                .zip(chunks)
                .map(|(id, (place, chunk))| [model.id.into(), (&chunk.hash).into(), place.into(), id.into()]),
        )?;
    }
    Ok(())
}

/// Chunks without a vector, grouped by text, at most `max` groups. The first chunks of all pages come before the
/// second of any, so that every page can soon be found by its beginning.
pub fn pending(tx: &Tx<'_>, model: i64, max: usize) -> Result<Vec<Pending>, DbError> {
    tx.rows(
        "SELECT q.hash, min(c.id), count(c.id) FROM
             (SELECT hash, place, chunk FROM pending WHERE model = $1 ORDER BY place, chunk LIMIT $2) q
         LEFT JOIN chunks c ON c.hash = q.hash
         GROUP BY q.hash, q.place, q.chunk ORDER BY q.place, q.chunk",
        [model.into(), i64::try_from(max).unwrap_or(i64::MAX).into()],
        |row| Ok(Pending { hash: row.bytes(0)?, chunk: row.maybe_integer(1)?, count: row.integer(2)? }),
    )
}

/// Number of chunks without a vector.
pub fn count_pending(tx: &Tx<'_>, model: i64) -> Result<i64, DbError> {
    let found = tx.row(
        "SELECT count(*) FROM pending q JOIN chunks c ON c.hash = q.hash WHERE q.model = $1",
        [model.into()],
        |row| row.integer(0),
    )?;
    Ok(found.unwrap_or_default())
}

/// Takes text off the queue that no chunk has any more.
pub fn forget_pending(tx: &Tx<'_>, model: i64, hashes: &[Vec<u8>]) -> Result<(), DbError> {
    let params = hashes.iter().map(|hash| [model.into(), hash.into()]);
    tx.many(
        "DELETE FROM pending WHERE model = $1 AND hash = $2 AND NOT EXISTS (SELECT 1 FROM chunks WHERE hash = $2)",
        params,
    )?;
    Ok(())
}

/// Inserts vectors; existing ones are kept. An empty vector means that the model rejected the text.
pub fn put(
    tx: &Tx<'_>,
    index: i64,
    model: i64,
    vectors: &[(Vec<u8>, Vec<u8>)],
    now: Timestamp,
) -> Result<(), DbError> {
    let key = model.to_string();
    let batch = events::append(tx, &stream(index), [(EventKind::Stored, key.as_str())].into_iter(), now)?;
    tx.many(
        "INSERT INTO vectors (model, hash, seq, vector) VALUES ($1, $2, $3, $4)
         ON CONFLICT (model, hash) DO NOTHING",
        vectors.iter().map(|(hash, vector)| [model.into(), hash.into(), batch.seq.into(), vector.into()]),
    )?;
    let done = vectors.iter().map(|(hash, _)| [model.into(), hash.into()]);
    tx.many("DELETE FROM pending WHERE model = $1 AND hash = $2", done)?;
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
    tx.execute(
        "INSERT INTO pending (model, hash, place, chunk)
         SELECT v.model, v.hash, 1, min(c.id) FROM vectors v JOIN chunks c ON c.hash = v.hash
         WHERE v.model = $1 AND length(v.vector) = 0 GROUP BY v.model, v.hash
         ON CONFLICT (model, hash) DO NOTHING",
        [model.into()],
    )?;
    tx.execute("DELETE FROM vectors WHERE model = $1 AND length(vector) = 0", [model.into()])
}

/// Deletes vectors of an index without chunks; returns how many.
pub fn sweep(tx: &Tx<'_>, index: i64) -> Result<usize, DbError> {
    tx.execute(
        "DELETE FROM vectors WHERE model IN (SELECT id FROM models WHERE index_id = $1) AND NOT EXISTS
             (SELECT 1 FROM chunks c JOIN pages p ON p.id = c.page WHERE c.hash = vectors.hash AND p.index_id = $1)",
        [index.into()],
    )
}

/// The active model of an index, if any.
pub fn active(tx: &Tx<'_>, index: i64) -> Result<Option<i64>, DbError> {
    tx.row("SELECT id FROM models WHERE index_id = $1 AND state = 'active'", [index.into()], |row| {
        row.integer(0)
    })
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
