//! Schema migrations. A released migration never changes; a schema change is a new one.

use crate::{DbError, Tx};

/// The migrations; the number of a migration is its position, starting at 1.
const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value {integer} NOT NULL
);
CREATE TABLE kept (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value {bytes} NOT NULL,
    expires {integer},
    PRIMARY KEY (namespace, key)
);
CREATE INDEX kept_expires ON kept (expires) WHERE expires IS NOT NULL;
CREATE TABLE jobs (
    queue TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    version {integer} NOT NULL,
    attempts {integer} NOT NULL,
    due {integer} NOT NULL,
    leased_until {integer} NOT NULL,
    error TEXT,
    PRIMARY KEY (queue, key)
);
CREATE INDEX jobs_due ON jobs (queue, due);
CREATE INDEX jobs_payload ON jobs (queue, payload);
CREATE TABLE events (
    seq {integer} PRIMARY KEY,
    stream TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    at {integer} NOT NULL
);
CREATE INDEX events_stream ON events (stream, seq);
CREATE TABLE consumers (
    name TEXT NOT NULL,
    stream TEXT NOT NULL,
    seq {integer} NOT NULL,
    PRIMARY KEY (name, stream)
);
CREATE TABLE sources (
    name TEXT PRIMARY KEY,
    version TEXT,
    synced_at {integer},
    rules TEXT NOT NULL,
    wanted {integer} NOT NULL,
    done {integer} NOT NULL
);
CREATE TABLE files (
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    stamp TEXT,
    digest TEXT,
    content_type TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    faults TEXT,
    attempts {integer} NOT NULL,
    due {integer},
    PRIMARY KEY (source, path)
);
CREATE INDEX files_due ON files (source, due) WHERE due IS NOT NULL;
CREATE TABLE documents (
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    content_type TEXT NOT NULL,
    id TEXT NOT NULL,
    hash TEXT NOT NULL,
    version TEXT NOT NULL,
    synced_at {integer} NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    PRIMARY KEY (source, path)
);
CREATE UNIQUE INDEX documents_id ON documents (source, content_type, id);
CREATE TABLE bodies (
    hash TEXT PRIMARY KEY,
    bytes {bytes} NOT NULL
);
",
    "
ALTER TABLE documents ADD COLUMN first_line {integer} NOT NULL DEFAULT 1;
CREATE TABLE pages (
    id {integer} PRIMARY KEY,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    version TEXT NOT NULL,
    facts TEXT NOT NULL
);
CREATE UNIQUE INDEX pages_key ON pages (source, key);
CREATE TABLE chunks (
    id {integer} PRIMARY KEY,
    page {integer} NOT NULL,
    hash {bytes} NOT NULL,
    heading TEXT NOT NULL,
    first_line {integer} NOT NULL,
    last_line {integer} NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_page ON chunks (page);
CREATE INDEX chunks_hash ON chunks (hash);
CREATE TABLE models (
    id {integer} PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,
    state TEXT NOT NULL
);
CREATE TABLE vectors (
    seq {integer} PRIMARY KEY,
    model {integer} NOT NULL,
    hash {bytes} NOT NULL,
    vector {bytes} NOT NULL
);
CREATE UNIQUE INDEX vectors_hash ON vectors (model, hash);
",
    "
CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    subject TEXT NOT NULL,
    client TEXT NOT NULL,
    client_name TEXT,
    resource TEXT NOT NULL,
    scopes TEXT NOT NULL,
    facts TEXT NOT NULL,
    created {integer} NOT NULL,
    expires {integer} NOT NULL
);
CREATE INDEX grants_subject ON grants (subject);
CREATE INDEX grants_expires ON grants (expires);
CREATE TABLE tokens (
    hash {bytes} PRIMARY KEY,
    grant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    scopes TEXT NOT NULL,
    facts TEXT NOT NULL,
    expires {integer} NOT NULL,
    used {integer}
);
CREATE INDEX tokens_grant ON tokens (grant_id);
CREATE INDEX tokens_expires ON tokens (expires);
CREATE TABLE audit (
    seq {integer} PRIMARY KEY,
    at {integer} NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT,
    client TEXT,
    detail TEXT NOT NULL
);
CREATE INDEX audit_at ON audit (at);
",
    // Events are numbered per stream, and positions in a stream carry a mark.
    "
ALTER TABLE counters ADD COLUMN mark {integer} NOT NULL DEFAULT 0;
INSERT INTO counters (name, value)
    SELECT 'events:' || streams.stream, counters.value FROM counters,
        (SELECT stream FROM events UNION SELECT stream FROM consumers UNION SELECT name FROM sources
         UNION SELECT 'pages') AS streams
    WHERE counters.name = 'events';
DELETE FROM counters WHERE name = 'events';
CREATE TABLE stream_events (
    stream TEXT NOT NULL,
    seq {integer} NOT NULL,
    mark {integer} NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    at {integer} NOT NULL,
    PRIMARY KEY (stream, seq)
);
INSERT INTO stream_events (stream, seq, mark, kind, key, at) SELECT stream, seq, 0, kind, key, at FROM events;
DROP TABLE events;
ALTER TABLE stream_events RENAME TO events;
",
    // Several sources, indexes and processes in one database.
    "
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    term {integer} NOT NULL,
    until {integer} NOT NULL
);
UPDATE jobs SET queue = 'objects:' || (SELECT min(name) FROM sources)
    WHERE queue = 'objects' AND EXISTS (SELECT 1 FROM sources);
CREATE TABLE staged_bodies (
    source TEXT NOT NULL,
    hash TEXT NOT NULL,
    sync {integer} NOT NULL,
    bytes {bytes} NOT NULL,
    PRIMARY KEY (source, hash)
);
INSERT INTO staged_bodies (source, hash, sync, bytes)
    SELECT (SELECT min(name) FROM sources), hash, 0, bytes FROM bodies WHERE EXISTS (SELECT 1 FROM sources);
DROP TABLE bodies;
ALTER TABLE staged_bodies RENAME TO bodies;
CREATE TABLE indexes (
    id {integer} PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO indexes (id, name) SELECT 1, 'search'
    WHERE EXISTS (SELECT 1 FROM pages) OR EXISTS (SELECT 1 FROM models);
INSERT INTO counters (name, value) SELECT 'indexes', 1 WHERE EXISTS (SELECT 1 FROM indexes);
ALTER TABLE pages ADD COLUMN index_id {integer} NOT NULL DEFAULT 1;
DROP INDEX pages_key;
CREATE UNIQUE INDEX pages_key ON pages (index_id, source, key);
UPDATE events SET stream = 'pages:1' WHERE stream = 'pages';
UPDATE counters SET name = 'events:pages:1' WHERE name = 'events:pages';
CREATE TABLE index_models (
    id {integer} PRIMARY KEY,
    index_id {integer} NOT NULL,
    identity TEXT NOT NULL,
    settings TEXT NOT NULL,
    state TEXT NOT NULL
);
INSERT INTO index_models (id, index_id, identity, settings, state)
    SELECT id, 1, identity, settings, state FROM models;
DROP TABLE models;
ALTER TABLE index_models RENAME TO models;
CREATE UNIQUE INDEX models_identity ON models (index_id, identity);
CREATE TABLE model_vectors (
    model {integer} NOT NULL,
    hash {bytes} NOT NULL,
    seq {integer} NOT NULL,
    vector {bytes} NOT NULL,
    PRIMARY KEY (model, hash)
);
INSERT INTO model_vectors (model, hash, seq, vector) SELECT model, hash, seq, vector FROM vectors;
DROP TABLE vectors;
ALTER TABLE model_vectors RENAME TO vectors;
CREATE INDEX vectors_seq ON vectors (model, seq);
UPDATE counters SET name = 'events:vectors:1' WHERE name = 'vectors';
CREATE TABLE pending (
    model {integer} NOT NULL,
    hash {bytes} NOT NULL,
    place {integer} NOT NULL,
    chunk {integer} NOT NULL,
    PRIMARY KEY (model, hash)
);
CREATE INDEX pending_place ON pending (model, place, chunk);
INSERT INTO pending (model, hash, place, chunk)
    SELECT m.id, c.hash, min(c.place), min(c.id) FROM models m,
        (SELECT id, hash, row_number() OVER (PARTITION BY page ORDER BY id) AS place FROM chunks) c
    WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.id AND v.hash = c.hash) GROUP BY m.id, c.hash;
",
    // Drafts that become pull requests.
    "
CREATE TABLE drafts (
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    tool TEXT NOT NULL,
    subject TEXT,
    content_type TEXT NOT NULL,
    title TEXT NOT NULL,
    path TEXT NOT NULL,
    body TEXT NOT NULL,
    branch TEXT NOT NULL,
    created {integer} NOT NULL,
    state TEXT NOT NULL,
    changed {integer} NOT NULL,
    base TEXT,
    commit_id TEXT,
    number {integer},
    url TEXT,
    ended_by TEXT,
    error TEXT,
    PRIMARY KEY (source, id)
);
CREATE INDEX drafts_created ON drafts (source, created);
",
    // Rate limits of several processes.
    "
CREATE TABLE rate_limits (
    name TEXT PRIMARY KEY,
    full_at {integer} NOT NULL
);
CREATE INDEX rate_limits_full_at ON rate_limits (full_at);
",
];

/// Migrates a database to the newest schema. Processes that start at the same time wait for each other.
pub(crate) fn run(tx: &Tx<'_>) -> Result<(), DbError> {
    run_up_to(tx, MIGRATIONS.len())
}

/// Migrates a database to the schema of the first `steps` migrations.
pub(crate) fn run_up_to(tx: &Tx<'_>, steps: usize) -> Result<(), DbError> {
    let create = "CREATE TABLE IF NOT EXISTS schema_steps (step {integer} NOT NULL)";
    tx.batch(&tx.dialect().typed(create))?;
    let found = tx.row("SELECT coalesce(max(step), 0) FROM schema_steps", [], |row| row.integer(0))?;
    let (found, known) = (found.unwrap_or_default(), i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX));
    if found > known {
        return Err(DbError::TooNew { found, known });
    }
    for (step, text) in (1_i64..).zip(MIGRATIONS).take(steps).filter(|(step, _)| *step > found) {
        tx.batch(&tx.dialect().typed(text))?;
        tx.execute("INSERT INTO schema_steps (step) VALUES ($1)", [step.into()])?;
    }
    Ok(())
}
