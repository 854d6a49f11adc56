//! A connection to Postgres, driven by the thread that uses it, which must be one that may block.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    error::Error as _,
    future::Future,
    time::Duration,
};

use bytes::BytesMut;
use futures::{TryStreamExt, future};
use tokio::runtime::Runtime;
use tokio_postgres::{
    Client, Row, Statement,
    error::SqlState,
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use super::{Server, Statements};
use crate::{DbError, DriverError, Param};

/// Limits of one statement on the server, of waiting for a lock, and of doing nothing within a transaction.
const LIMITS: &str = "SET LOCAL statement_timeout = 30000; SET LOCAL lock_timeout = 5000; \
     SET LOCAL idle_in_transaction_session_timeout = 60000";

/// Limit of one round trip, longer than the server's own: then the connection is dead.
const ROUND_TRIP_TIMEOUT: Duration = Duration::from_secs(40);

/// Limit of connecting, with TLS and the password.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes the lock that a write begins with, and says which transaction it is.
const LOCK: &str = "SELECT pg_current_xact_id()::text, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), \
     pg_advisory_xact_lock(hashtextextended(current_schema() || ':' || $1, 0))";

const OUTCOME: &str =
    "SELECT pg_xact_status($1::text::xid8), substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)";

/// Maximum number of statements sent before their answers are read.
const MAX_PIPELINED: usize = 1_000;

/// Maximum number of prepared statements.
const MAX_STATEMENTS: usize = 500;

/// A connection.
pub(crate) struct Connection {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    client: Client,
    /// Prepared statements by their text; `None` if they are not kept.
    statements: Option<RefCell<HashMap<String, Statement>>>,
    /// Whether a statement of this transaction failed.
    has_failed: Cell<bool>,
}

/// Identifies a transaction.
#[derive(Debug)]
pub(super) struct Transaction {
    id: String,
    /// The server's timeline. After a failover, ids may be those of other transactions.
    timeline: String,
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Committed,
    Aborted,
    InProgress,
    Unknown,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // May happen on an async thread, where waiting for the runtime would panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Connection {
    /// Connects.
    pub(super) fn open(server: &Server) -> Result<Self, DbError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| DbError::Unavailable(DriverError::new(&error)))?;
        let connecting = server.config.connect(server.tls.clone());
        let (client, connection) = runtime
            .block_on(async { tokio::time::timeout(OPEN_TIMEOUT, connecting).await })
            .map_err(|error| DbError::Unavailable(DriverError::new(&error)))?
            .map_err(|error| connect_error(&error))?;
        // It ends with the client, or with an error that the client reports too.
        drop(runtime.spawn(connection));
        let statements = (server.statements == Statements::Named).then(RefCell::default);
        Ok(Self { runtime: Some(runtime), client, statements, has_failed: Cell::default() })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    /// Begins a write about something.
    pub(super) fn begin_write(&self, about: &str) -> Result<Transaction, DbError> {
        self.has_failed.set(false);
        let params = [Param::from(about)];
        let statement = self.statement(LOCK, &params)?;
        let begin = format!("BEGIN ISOLATION LEVEL READ COMMITTED; {LIMITS}");
        let rows = self.wait(async {
            let begin = self.client.batch_execute(&begin);
            let lock = self.select(statement.as_ref(), LOCK, &params);
            Ok(future::try_join(begin, lock).await?.1)
        })?;
        let row = rows.first().ok_or(DbError::Closed)?;
        Ok(Transaction { id: field(row, 0)?, timeline: field(row, 1)? })
    }

    /// Begins a read.
    pub(super) fn begin_read(&self) -> Result<(), DbError> {
        self.has_failed.set(false);
        self.batch(&format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {LIMITS}"))
    }

    /// Commits or rolls back.
    pub(super) fn end(&self, sql: &str) -> Result<(), DbError> {
        self.batch(sql)
    }

    /// What became of a transaction of another connection.
    pub(super) fn outcome(&self, transaction: &Transaction) -> Result<Outcome, DbError> {
        let found = self.query(OUTCOME, [[Param::from(transaction.id.as_str())]], |row| {
            Ok((field::<Option<String>>(row, 0)?, field::<String>(row, 1)?))
        })?;
        Ok(match found.into_iter().flatten().next() {
            Some((_, timeline)) if timeline != transaction.timeline => Outcome::Unknown,
            Some((Some(status), _)) => match status.as_str() {
                "committed" => Outcome::Committed,
                "aborted" => Outcome::Aborted,
                _ => Outcome::InProgress,
            },
            Some((None, _)) | None => Outcome::Unknown,
        })
    }

    /// Runs statements without parameters.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), DbError> {
        self.wait(self.client.batch_execute(sql))
    }

    /// Runs a statement for each set of parameters, sent before their answers are read; returns the number of changed
    /// rows.
    pub(crate) fn execute<'p, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [Param<'p>; N]>,
    ) -> Result<usize, DbError> {
        let (mut params, mut changed) = (params.into_iter().peekable(), 0);
        while let Some(first) = params.peek() {
            let statement = self.statement(sql, first)?;
            let batch: Vec<[Param<'p>; N]> = params.by_ref().take(MAX_PIPELINED).collect();
            let answers = batch.iter().map(|params| self.change(statement.as_ref(), sql, params));
            changed += self.wait(future::try_join_all(answers))?.iter().sum::<u64>();
        }
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs a query for each set of parameters, sent before their answers are read.
    pub(crate) fn query<'p, T, const N: usize>(
        &self,
        sql: &str,
        params: impl IntoIterator<Item = [Param<'p>; N]>,
        mut read: impl FnMut(&Row) -> Result<T, DbError>,
    ) -> Result<Vec<Vec<T>>, DbError> {
        let (mut params, mut all) = (params.into_iter().peekable(), Vec::new());
        while let Some(first) = params.peek() {
            let statement = self.statement(sql, first)?;
            let batch: Vec<[Param<'p>; N]> = params.by_ref().take(MAX_PIPELINED).collect();
            let answers = batch.iter().map(|params| self.select(statement.as_ref(), sql, params));
            for rows in self.wait(future::try_join_all(answers))? {
                all.push(rows.iter().map(&mut read).collect::<Result<Vec<T>, _>>()?);
            }
        }
        Ok(all)
    }

    async fn change(
        &self,
        statement: Option<&Statement>,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<u64, tokio_postgres::Error> {
        match statement {
            Some(statement) => self.client.execute_raw(statement, params.iter().copied()).await,
            None => {
                let typed: Vec<(&(dyn ToSql + Sync), Type)> =
                    params.iter().map(|param| (param as &(dyn ToSql + Sync), type_of(param))).collect();
                self.client.execute_typed(sql, &typed).await
            }
        }
    }

    async fn select(
        &self,
        statement: Option<&Statement>,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let rows = match statement {
            Some(statement) => self.client.query_raw(statement, params.iter().copied()).await?,
            None => {
                let typed = params.iter().map(|param| (*param, type_of(param)));
                self.client.query_typed_raw(sql, typed).await?
            }
        };
        rows.try_collect().await
    }

    /// Prepares a statement, unless it is known; `None` if statements are not kept.
    fn statement(&self, sql: &str, params: &[Param<'_>]) -> Result<Option<Statement>, DbError> {
        let Some(statements) = &self.statements else { return Ok(None) };
        if let Some(known) = statements.borrow().get(sql) {
            return Ok(Some(known.clone()));
        }
        let types: Vec<Type> = params.iter().map(type_of).collect();
        let statement = self.wait(self.client.prepare_typed(sql, &types))?;
        let mut statements = statements.borrow_mut();
        if statements.len() >= MAX_STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_owned(), statement.clone());
        Ok(Some(statement))
    }

    /// Drives the connection until the answer is there.
    fn wait<T>(&self, answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, DbError> {
        let runtime = self.runtime.as_ref().ok_or(DbError::Closed)?;
        let answer = runtime.block_on(async { tokio::time::timeout(ROUND_TRIP_TIMEOUT, answer).await });
        let answer = match answer {
            Ok(answer) => answer.map_err(|error| db_error(&error)),
            Err(elapsed) => Err(DbError::Unavailable(DriverError::new(&elapsed))),
        };
        if answer.is_err() {
            self.has_failed.set(true);
        }
        answer
    }
}

/// Reads a column; text, bytes and integers of any size.
pub(crate) fn field<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, DbError> {
    row.try_get(column).map_err(|error| DbError::Content(error.to_string()))
}

/// An integer of any size, such as the literal in `SELECT 1`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integer(pub i64);

impl<'a> FromSql<'a> for Integer {
    fn from_sql(sql_type: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(match *sql_type {
            Type::INT2 => i16::from_sql(sql_type, raw)?.into(),
            Type::INT4 => i32::from_sql(sql_type, raw)?.into(),
            _ => i64::from_sql(sql_type, raw)?,
        }))
    }

    fn accepts(sql_type: &Type) -> bool {
        matches!(*sql_type, Type::INT2 | Type::INT4 | Type::INT8)
    }
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        sql_type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Integer(number) => number.to_sql(sql_type, out),
            // Postgres can't store NUL in text.
            Self::Text(Some(text)) if text.contains('\0') => {
                text.replace('\0', "\u{fffd}").to_sql(sql_type, out)
            }
            Self::Text(text) => text.to_sql(sql_type, out),
            Self::Bytes(bytes) => bytes.to_sql(sql_type, out),
        }
    }

    fn accepts(sql_type: &Type) -> bool {
        matches!(*sql_type, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

fn type_of(param: &Param<'_>) -> Type {
    match param {
        Param::Integer(_) => Type::INT8,
        Param::Text(_) => Type::TEXT,
        Param::Bytes(_) => Type::BYTEA,
    }
}

/// A failure to connect may pass, unless the server refused us or has a certificate that we don't trust.
fn connect_error(error: &tokio_postgres::Error) -> DbError {
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let is_tls = |cause: &(dyn std::error::Error + 'static)| {
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause.is::<rustls::Error>() || matches!(inner, Some(inner) if inner.is::<rustls::Error>())
    };
    if causes.any(is_tls) {
        return DbError::Address(DriverError::new(error));
    }
    db_error(error)
}

fn db_error(error: &tokio_postgres::Error) -> DbError {
    let cause = DriverError::new(error);
    let Some(server) = error.as_db_error() else {
        // Anything that the server did not say itself: the connection failed.
        return DbError::Unavailable(cause);
    };
    let code = server.code();
    match code.clone() {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => DbError::Conflict(cause),
        // The server is starting or stopping, it is a standby now, or it has too many connections.
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::READ_ONLY_SQL_TRANSACTION
        | SqlState::TOO_MANY_CONNECTIONS
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => DbError::Unavailable(cause),
        SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED => DbError::Busy(cause),
        SqlState::DISK_FULL => DbError::Full(cause),
        // The schema changed under a prepared statement.
        SqlState::FEATURE_NOT_SUPPORTED if server.message().contains("cached plan") => {
            DbError::Unavailable(cause)
        }
        _ => DbError::Sql(cause),
    }
}
