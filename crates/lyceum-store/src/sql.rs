//! Statements and their parameters: what a transaction can do, on every engine.
//!
//! One SQL text serves all engines: `$1`, `$2` … in the order of their first use, `ON CONFLICT`, `RETURNING`; integers,
//! text and bytes as the only types. What differs is in `dialect.rs`, and the engines are in one file each.

pub(crate) mod dialect;
pub(crate) mod sqlite;

use jiff::Timestamp;

use crate::DbError;

/// A transaction.
///
/// After an error, nothing else may be done in it but return the error: Postgres refuses all further statements.
#[derive(Debug)]
pub struct Tx<'a> {
    connection: &'a rusqlite::Connection,
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
pub struct Row<'a>(&'a rusqlite::Row<'a>);

impl<'a> Tx<'a> {
    pub(crate) fn on(connection: &'a rusqlite::Connection) -> Self {
        Self { connection }
    }

    /// Runs statements without parameters.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), DbError> {
        sqlite::batch(self.connection, sql)
    }

    /// The time by the clock that leases and jobs are measured with, the same for all processes.
    pub fn now(&self) -> Result<Timestamp, DbError> {
        Ok(Timestamp::now())
    }

    /// Runs a statement and returns the number of changed rows.
    pub fn execute<const N: usize>(&self, sql: &str, params: [Param<'_>; N]) -> Result<usize, DbError> {
        sqlite::execute(self.connection, sql, [params])
    }

    /// Runs a statement once for each set of parameters, in one round trip; returns the number of changed rows.
    pub fn many<'p, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [Param<'p>; N]>,
    ) -> Result<usize, DbError> {
        sqlite::execute(self.connection, sql, params)
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
        sqlite::query(self.connection, sql, params, |row| read(&Row(row)))
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
