//! The schema, one step after another. A step that was released is never changed; a change is a new step.

use rusqlite::Connection;

use crate::{DbError, sql};

/// The steps; the number of a step is its place in this list, from 1 on.
const STEPS: &[&str] = &[
    "
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value {whole} NOT NULL
);
CREATE TABLE kept (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value {bytes} NOT NULL,
    expires {whole},
    PRIMARY KEY (namespace, key)
);
CREATE INDEX kept_expires ON kept (expires) WHERE expires IS NOT NULL;
CREATE TABLE jobs (
    queue TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    version {whole} NOT NULL,
    attempts {whole} NOT NULL,
    due {whole} NOT NULL,
    leased_until {whole} NOT NULL,
    error TEXT,
    PRIMARY KEY (queue, key)
);
CREATE INDEX jobs_due ON jobs (queue, due);
CREATE INDEX jobs_payload ON jobs (queue, payload);
CREATE TABLE events (
    seq {whole} PRIMARY KEY,
    stream TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    at {whole} NOT NULL
);
CREATE INDEX events_stream ON events (stream, seq);
CREATE TABLE consumers (
    name TEXT NOT NULL,
    stream TEXT NOT NULL,
    seq {whole} NOT NULL,
    PRIMARY KEY (name, stream)
);
CREATE TABLE sources (
    name TEXT PRIMARY KEY,
    version TEXT,
    synced_at {whole},
    rules TEXT NOT NULL,
    wanted {whole} NOT NULL,
    done {whole} NOT NULL
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
    attempts {whole} NOT NULL,
    due {whole},
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
    synced_at {whole} NOT NULL,
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
ALTER TABLE documents ADD COLUMN first_line {whole} NOT NULL DEFAULT 1;
CREATE TABLE pages (
    id {whole} PRIMARY KEY,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    version TEXT NOT NULL,
    facts TEXT NOT NULL
);
CREATE UNIQUE INDEX pages_key ON pages (source, key);
CREATE TABLE chunks (
    id {whole} PRIMARY KEY,
    page {whole} NOT NULL,
    hash {bytes} NOT NULL,
    heading TEXT NOT NULL,
    first_line {whole} NOT NULL,
    last_line {whole} NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_page ON chunks (page);
CREATE INDEX chunks_hash ON chunks (hash);
CREATE TABLE models (
    id {whole} PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,
    state TEXT NOT NULL
);
CREATE TABLE vectors (
    seq {whole} PRIMARY KEY,
    model {whole} NOT NULL,
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
    created {whole} NOT NULL,
    expires {whole} NOT NULL
);
CREATE INDEX grants_subject ON grants (subject);
CREATE INDEX grants_expires ON grants (expires);
CREATE TABLE tokens (
    hash {bytes} PRIMARY KEY,
    grant_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    scopes TEXT NOT NULL,
    facts TEXT NOT NULL,
    expires {whole} NOT NULL,
    used {whole}
);
CREATE INDEX tokens_grant ON tokens (grant_id);
CREATE INDEX tokens_expires ON tokens (expires);
CREATE TABLE audit (
    seq {whole} PRIMARY KEY,
    at {whole} NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT,
    client TEXT,
    detail TEXT NOT NULL
);
CREATE INDEX audit_at ON audit (at);
",
];

/// Brings a database to the newest schema. Two processes that start at once wait for each other.
pub(crate) fn run(connection: &Connection) -> Result<(), DbError> {
    connection.execute_batch(sql::BEGIN_WRITE)?;
    let ran = run_in_transaction(connection);
    connection.execute_batch(if ran.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    ran
}

fn run_in_transaction(connection: &Connection) -> Result<(), DbError> {
    connection.execute_batch("CREATE TABLE IF NOT EXISTS schema_steps (step INTEGER NOT NULL)")?;
    let found: i64 =
        connection.query_row("SELECT coalesce(max(step), 0) FROM schema_steps", [], |row| row.get(0))?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(DbError::TooNew { found, known });
    }
    for (step, text) in (1_i64..).zip(STEPS).filter(|(step, _)| *step > found) {
        let text = sql::TYPES.iter().fold((*text).to_owned(), |text, (name, is)| text.replace(name, is));
        connection.execute_batch(&text)?;
        connection.execute("INSERT INTO schema_steps (step) VALUES (?1)", [step])?;
    }
    Ok(())
}
