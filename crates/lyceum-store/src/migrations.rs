//! Schema migrations. A released migration never changes; a schema change is a new one.

use rusqlite::Connection;

use crate::{DbError, sql};

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
];

/// Migrates a database to the newest schema. Processes that start at the same time wait for each other.
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
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(DbError::TooNew { found, known });
    }
    for (step, text) in (1_i64..).zip(MIGRATIONS).filter(|(step, _)| *step > found) {
        let text =
            sql::TYPES.iter().fold((*text).to_owned(), |text, (name, sql_type)| text.replace(name, sql_type));
        connection.execute_batch(&text)?;
        connection.execute("INSERT INTO schema_steps (step) VALUES (?1)", [step])?;
    }
    Ok(())
}
