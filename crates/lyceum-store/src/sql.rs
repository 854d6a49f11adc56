//! Connections, statements and the SQL dialect of SQLite.
//!
//! `rusqlite` is also used in `db.rs`, `migrations.rs` and `error.rs`. The SQL is meant to be accepted by Postgres
//! too, which is not tested: `$1`, `$2` … in the order of their first use, `ON CONFLICT`, `RETURNING`; integers,
//! text and bytes as the only types.

use std::time::{Duration, Instant};

use rusqlite::{
    Connection, OpenFlags,
    config::DbConfig,
    types::{ToSql, ToSqlOutput, ValueRef},
};

use crate::DbError;

/// Placeholders for column types in migrations.
pub(crate) const TYPES: &[(&str, &str)] = &[("{bytes}", "BLOB"), ("{integer}", "INTEGER")];

/// Suffix of a `SELECT … LIMIT` that locks its rows and skips locked ones. Empty for SQLite, which has one writer
/// at a time.
pub(crate) const SKIP_LOCKED: &str = "";

/// How long to wait for a lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Polling interval where SQLite ignores the busy timeout.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum size of the WAL file after a checkpoint.
const MAX_JOURNAL_BYTES: i64 = 64 * 1024 * 1024;

/// Opens a connection, for use by one thread at a time.
pub(crate) fn connect(file: &std::path::Path) -> Result<Connection, DbError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // FULL: a commit survives a power failure.
    enable_wal(&connection)?;
    // Plans must not depend on bound values: otherwise a cached statement is compiled again whenever its parameters change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", MAX_JOURNAL_BYTES)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Enables write-ahead logging, so that readers and the writer don't block each other.
///
/// If several processes do this to a new file at once, SQLite returns busy to all but one, without waiting.
fn enable_wal(connection: &Connection) -> Result<(), DbError> {
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL").map_err(DbError::from) {
            Err(DbError::Busy(_)) if Instant::now() < until => std::thread::sleep(RETRY_INTERVAL),
            done => return done,
        }
    }
}

pub(crate) const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
pub(crate) const BEGIN_READ: &str = "BEGIN DEFERRED";

/// A transaction.
#[derive(Debug)]
pub struct Tx<'a> {
    connection: &'a Connection,
}

/// A parameter of a statement.
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    /// `NULL`.
    Null,
    /// An integer.
    Integer(i64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// A row of a result set.
#[derive(Debug)]
pub struct Row<'a>(&'a rusqlite::Row<'a>);

impl<'a> Tx<'a> {
    pub(crate) fn on(connection: &'a Connection) -> Self {
        Self { connection }
    }

    /// Runs a statement and returns the number of changed rows.
    pub fn execute<const N: usize>(&self, sql: &str, params: [Param<'_>; N]) -> Result<usize, DbError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.execute(rusqlite::params_from_iter(params))?)
    }

    /// Returns all rows of a query.
    pub fn rows<T, const N: usize>(
        &self,
        sql: &str,
        params: [Param<'_>; N],
        mut read: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(params))?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(&Row(row))?);
        }
        Ok(all)
    }

    /// Returns the first row of a query, if any.
    pub fn row<T, const N: usize>(
        &self,
        sql: &str,
        params: [Param<'_>; N],
        read: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        Ok(self.rows(sql, params, read)?.into_iter().next())
    }
}

impl Row<'_> {
    /// Reads an integer.
    pub fn integer(&self, column: usize) -> Result<i64, DbError> {
        Ok(self.0.get(column)?)
    }

    /// Reads text.
    pub fn text(&self, column: usize) -> Result<String, DbError> {
        Ok(self.0.get(column)?)
    }

    /// Borrows text.
    pub fn text_ref(&self, column: usize) -> Result<&str, DbError> {
        let value = self.0.get_ref(column)?;
        value.as_str().map_err(|error| DbError::Content(error.to_string()))
    }

    /// Reads nullable text.
    pub fn maybe_text(&self, column: usize) -> Result<Option<String>, DbError> {
        Ok(self.0.get(column)?)
    }

    /// Reads a nullable integer.
    pub fn maybe_integer(&self, column: usize) -> Result<Option<i64>, DbError> {
        Ok(self.0.get(column)?)
    }

    /// Reads bytes.
    pub fn bytes(&self, column: usize) -> Result<Vec<u8>, DbError> {
        Ok(self.0.get(column)?)
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, T: Into<Param<'a>>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
