//! Connections, statements and the SQL dialect of SQLite.
//!
//! `rusqlite` is also used in `db.rs`, `migrations.rs` and `error.rs`. Statements are written in SQL that Postgres is expected to
//! accept too, which is not tested: `$1`, `$2` … in the order of their first use,
//! `ON CONFLICT`, `RETURNING`; whole numbers, texts and bytes as the only types.

use std::time::{Duration, Instant};

use rusqlite::{
    Connection, OpenFlags,
    types::{ToSql, ToSqlOutput, ValueRef},
};

use crate::DbError;

/// What stands for a type in the text of a migration.
pub(crate) const TYPES: &[(&str, &str)] = &[("{bytes}", "BLOB"), ("{whole}", "INTEGER")];

/// Follows a `SELECT … LIMIT` whose rows are claimed: rows that another claims are passed over. SQLite has one writer
/// at a time, and needs no word for it.
pub(crate) const CLAIMED: &str = "";

/// How long another process is waited for.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long lies between two looks where SQLite itself does not wait.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// How much of the log may be left on disk once it is written back.
const MAX_JOURNAL_BYTES: i64 = 64 * 1024 * 1024;

/// Opens a database for one thread.
pub(crate) fn connect(file: &std::path::Path) -> Result<Connection, DbError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // FULL: a commit that returned survives a power cut.
    enable_wal(&connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", MAX_JOURNAL_BYTES)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Has changes written to a log first, so that readers and a writer do not hold each other up.
///
/// Where several processes want that of a new file at once, SQLite sends all but one away without waiting.
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

/// A transaction that work is done in.
#[derive(Debug)]
pub struct Tx<'a> {
    connection: &'a Connection,
}

/// What a statement is given.
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    /// Nothing.
    Null,
    /// A whole number.
    Whole(i64),
    /// A text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// One row of an answer.
#[derive(Debug)]
pub struct Row<'a>(&'a rusqlite::Row<'a>);

impl<'a> Tx<'a> {
    pub(crate) fn on(connection: &'a Connection) -> Self {
        Self { connection }
    }

    /// Runs a statement, and says how many rows it changed.
    pub fn execute<const N: usize>(&self, sql: &str, params: [Param<'_>; N]) -> Result<usize, DbError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.execute(rusqlite::params_from_iter(params))?)
    }

    /// Every row of an answer.
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

    /// The first row of an answer, if there is one.
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
    /// A whole number.
    pub fn whole(&self, column: usize) -> Result<i64, DbError> {
        Ok(self.0.get(column)?)
    }

    /// A text.
    pub fn text(&self, column: usize) -> Result<String, DbError> {
        Ok(self.0.get(column)?)
    }

    /// A text, looked at where it is.
    pub fn text_here(&self, column: usize) -> Result<&str, DbError> {
        let value = self.0.get_ref(column)?;
        value.as_str().map_err(|error| DbError::Content(error.to_string()))
    }

    /// A text, or nothing.
    pub fn maybe_text(&self, column: usize) -> Result<Option<String>, DbError> {
        Ok(self.0.get(column)?)
    }

    /// A whole number, or nothing.
    pub fn maybe_whole(&self, column: usize) -> Result<Option<i64>, DbError> {
        Ok(self.0.get(column)?)
    }

    /// Bytes.
    pub fn bytes(&self, column: usize) -> Result<Vec<u8>, DbError> {
        Ok(self.0.get(column)?)
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Whole(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Whole(number)
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
