//! Statements and their parameters: what a transaction can do, on every engine.
//!
//! One SQL text serves all engines: `$1`, `$2` … in the order of their first use, `ON CONFLICT`, `RETURNING`; integers,
//! text and bytes as the only types. What differs is in `dialect.rs`, and the engines are in one file each.

pub(crate) mod dialect;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use jiff::Timestamp;

use crate::DbError;
use dialect::Dialect;
use postgres::{Integer, field};

/// A transaction.
///
/// After an error, nothing else may be done in it but return the error: Postgres refuses all further statements.
#[derive(Debug)]
pub struct Tx<'a>(Engine<'a>);

#[derive(Debug)]
enum Engine<'a> {
    Sqlite(&'a rusqlite::Connection),
    Postgres(&'a postgres::Connection),
}

/// A parameter of a statement. `NULL` has a type too: Postgres can't infer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param<'a> {
    /// An integer.
    Integer(Option<i64>),
    /// Text.
    Text(Option<&'a str>),
    /// Bytes.
    Bytes(Option<&'a [u8]>),
}

/// A row of a result set.
#[derive(Debug)]
pub struct Row<'a>(EngineRow<'a>);

#[derive(Debug)]
enum EngineRow<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Tx<'a> {
    pub(crate) fn on_sqlite(connection: &'a rusqlite::Connection) -> Self {
        Self(Engine::Sqlite(connection))
    }

    pub(crate) fn on_postgres(connection: &'a postgres::Connection) -> Self {
        Self(Engine::Postgres(connection))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.0 {
            Engine::Sqlite(_) => Dialect::Sqlite,
            Engine::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Runs statements without parameters.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), DbError> {
        match self.0 {
            Engine::Sqlite(connection) => sqlite::batch(connection, sql),
            Engine::Postgres(connection) => connection.batch(sql),
        }
    }

    /// The time by the clock that leases and jobs are measured with, the same for all processes.
    pub fn now(&self) -> Result<Timestamp, DbError> {
        let Some(clock) = self.dialect().clock() else { return Ok(Timestamp::now()) };
        let milliseconds = self.row(clock, [], |row| row.integer(0))?.unwrap_or_default();
        Timestamp::from_millisecond(milliseconds).map_err(|error| DbError::Content(error.to_string()))
    }

    /// Runs a statement and returns the number of changed rows.
    pub fn execute<const N: usize>(&self, sql: &str, params: [Param<'_>; N]) -> Result<usize, DbError> {
        self.many(sql, [params])
    }

    /// Runs a statement once for each set of parameters, in one round trip; returns the number of changed rows.
    pub fn many<'p, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [Param<'p>; N]>,
    ) -> Result<usize, DbError> {
        match self.0 {
            Engine::Sqlite(connection) => sqlite::execute(connection, sql, params),
            Engine::Postgres(connection) => connection.execute(sql, params),
        }
    }

    /// Returns all rows of a query.
    pub fn rows<T, const N: usize>(
        &self,
        sql: &str,
        params: [Param<'_>; N],
        read: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        Ok(self.rows_of_each(sql, [params], read)?.into_iter().next().unwrap_or_default())
    }

    /// Returns the rows of a query for each set of parameters, in one round trip.
    pub fn rows_of_each<'p, T, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [Param<'p>; N]>,
        mut read: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<Vec<T>>, DbError> {
        match self.0 {
            Engine::Sqlite(connection) => {
                sqlite::query(connection, sql, params, |row| read(&Row(EngineRow::Sqlite(row))))
            }
            Engine::Postgres(connection) => {
                connection.query(sql, params, |row| read(&Row(EngineRow::Postgres(row))))
            }
        }
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
        match self.0 {
            EngineRow::Sqlite(row) => Ok(row.get(column)?),
            EngineRow::Postgres(row) => field(row, column).map(|Integer(number)| number),
        }
    }

    /// Reads text.
    pub fn text(&self, column: usize) -> Result<String, DbError> {
        match self.0 {
            EngineRow::Sqlite(row) => Ok(row.get(column)?),
            EngineRow::Postgres(row) => field(row, column),
        }
    }

    /// Borrows text.
    pub fn text_ref(&self, column: usize) -> Result<&str, DbError> {
        match self.0 {
            EngineRow::Sqlite(row) => {
                let value = row.get_ref(column)?;
                value.as_str().map_err(|error| DbError::Content(error.to_string()))
            }
            EngineRow::Postgres(row) => field(row, column),
        }
    }

    /// Reads nullable text.
    pub fn maybe_text(&self, column: usize) -> Result<Option<String>, DbError> {
        match self.0 {
            EngineRow::Sqlite(row) => Ok(row.get(column)?),
            EngineRow::Postgres(row) => field(row, column),
        }
    }

    /// Reads a nullable integer.
    pub fn maybe_integer(&self, column: usize) -> Result<Option<i64>, DbError> {
        match self.0 {
            EngineRow::Sqlite(row) => Ok(row.get(column)?),
            EngineRow::Postgres(row) => {
                field::<Option<Integer>>(row, column).map(|number| number.map(|Integer(number)| number))
            }
        }
    }

    /// Reads bytes.
    pub fn bytes(&self, column: usize) -> Result<Vec<u8>, DbError> {
        match self.0 {
            EngineRow::Sqlite(row) => Ok(row.get(column)?),
            EngineRow::Postgres(row) => field(row, column),
        }
    }
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<Option<i64>> for Param<'_> {
    fn from(number: Option<i64>) -> Self {
        Self::Integer(number)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

impl<'a> From<Option<&'a str>> for Param<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Some(text))
    }
}

impl<'a> From<&'a Option<String>> for Param<'a> {
    fn from(text: &'a Option<String>) -> Self {
        Self::Text(text.as_deref())
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Some(bytes))
    }
}

impl<'a> From<&'a Vec<u8>> for Param<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(Some(bytes))
    }
}
