//! SQLite: a file, one writer thread with group commit, and concurrent readers.
//!
//! A commit waits for fsync, so queued writes share one. A write that fails is rolled back alone, by a savepoint.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, OpenFlags,
    config::DbConfig,
    types::{ToSql, ToSqlOutput, ValueRef},
};
use tokio::sync::mpsc;

use super::{Param, Tx};
use crate::{
    DbError, DriverError,
    db::{Run, Work},
};

/// How long to wait for a lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Polling interval where SQLite ignores the busy timeout.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum size of the WAL file after a checkpoint.
const MAX_JOURNAL_BYTES: i64 = 64 * 1024 * 1024;

/// Maximum number of writes in one commit.
const MAX_GROUP_COMMIT: usize = 128;

/// Maximum number of idle reader connections.
const MAX_IDLE_READERS: usize = 4;

const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";
const BEGIN_READ: &str = "BEGIN DEFERRED";

/// Page size of a new SQLite database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSize {
    /// For small rows that are looked up one at a time.
    Small,
    /// For rows of many kilobytes: every page that is written costs two system calls.
    Large,
}

impl PageSize {
    fn bytes(self) -> i64 {
        match self {
            Self::Small => 4 * 1024,
            Self::Large => 16 * 1024,
        }
    }

    /// Size of the WAL file, in pages, that starts a checkpoint, which stops the writer: 4 MiB or 32 MiB.
    fn checkpoint_pages(self) -> i64 {
        match self {
            Self::Small => 1_000,
            Self::Large => 2 * 1024,
        }
    }
}

/// A database file and its idle reader connections.
#[derive(Debug)]
pub(crate) struct Sqlite {
    file: PathBuf,
    page_size: PageSize,
    readers: Mutex<Vec<Connection>>,
}

impl Sqlite {
    /// Opens the file, creates it if it doesn't exist, and migrates it; returns the connection of the writer too.
    ///
    /// A corrupt file is an error, also if the corruption was detected during earlier use.
    pub(crate) fn open(
        file: &Path,
        page_size: PageSize,
        migrate: impl Fn(&Tx<'_>) -> Result<(), DbError>,
    ) -> Result<(Self, Connection), DbError> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(DbError::Folder)?;
        }
        if corruption_marker(file).exists() {
            return Err(DbError::MarkedCorrupt);
        }
        let connection = connect(file, page_size)?;
        connection.execute_batch(BEGIN_WRITE)?;
        let migrated = migrate(&Tx::on_sqlite(&connection));
        connection.execute_batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        migrated?;
        Ok((Self { file: file.to_owned(), page_size, readers: Mutex::default() }, connection))
    }

    /// Runs `work` on a consistent snapshot. Blocks.
    pub(crate) fn read<T>(&self, work: impl Fn(&Tx<'_>) -> Result<T, DbError>) -> Result<T, DbError> {
        let answer = self.read_once(work);
        if let Err(DbError::Corrupt(_) | DbError::Content(_)) = answer {
            self.mark_corrupt();
        }
        answer
    }

    fn read_once<T>(&self, work: impl Fn(&Tx<'_>) -> Result<T, DbError>) -> Result<T, DbError> {
        let kept = self.readers().pop();
        let connection = kept.map_or_else(|| connect(&self.file, self.page_size), Ok)?;
        connection.execute_batch(BEGIN_READ)?;
        let answer = work(&Tx::on_sqlite(&connection));
        connection.execute_batch("ROLLBACK")?;
        let mut readers = self.readers();
        if readers.len() < MAX_IDLE_READERS {
            readers.push(connection);
        }
        answer
    }

    /// Leaves a marker file, so that the next [`Sqlite::open`] reports the corruption.
    pub(crate) fn mark_corrupt(&self) {
        if let Err(error) = std::fs::write(corruption_marker(&self.file), "") {
            tracing::warn!(error.cause = %error, "could not mark the database as corrupt");
        }
    }

    fn readers(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renames a corrupt database, and removes its WAL, shared-memory and marker files.
pub(crate) fn move_aside(file: &Path) -> std::io::Result<()> {
    let free =
        (1_u32..).map(|number| sibling(file, &format!(".damaged-{number}"))).find(|path| !path.exists());
    let aside = free.unwrap_or_else(|| sibling(file, ".damaged-0"));
    if file.exists() {
        std::fs::rename(file, &aside)?;
    }
    for path in [sibling(file, "-wal"), sibling(file, "-shm"), corruption_marker(file)] {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    tracing::error!(aside = %aside.display(), "the database is corrupt; moved it aside and rebuilding it from the sources");
    Ok(())
}

/// Marker file next to a database that was found corrupt.
fn corruption_marker(file: &Path) -> PathBuf {
    sibling(file, ".damaged")
}

fn sibling(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The writer thread: commits queued writes until all senders are dropped.
pub(crate) fn write_all(connection: &Connection, mut waiting: mpsc::Receiver<Box<dyn Work>>) {
    let mut batch = Vec::with_capacity(MAX_GROUP_COMMIT);
    while let Some(first) = waiting.blocking_recv() {
        batch.push(first);
        while batch.len() < MAX_GROUP_COMMIT
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        write_batch(connection, batch.drain(..));
    }
}

/// Commits a batch. If a write ends the transaction, the remaining ones share another.
fn write_batch(connection: &Connection, batch: impl Iterator<Item = Box<dyn Work>>) {
    let mut batch = batch.peekable();
    while batch.peek().is_some() {
        if let Err(error) = connection.execute_batch(BEGIN_WRITE) {
            tracing::warn!(error.cause = %error, "could not begin a transaction");
            return batch.for_each(|work| work.end(Err((&error).into())));
        }
        let mut done: Vec<Box<dyn Work>> = Vec::new();
        // A full disk can roll back the whole transaction halfway.
        while let Some(work) = batch.next_if(|_| !connection.is_autocommit()) {
            done.extend(attempt(connection, work));
        }
        let committed = connection.execute_batch("COMMIT");
        if let Err(error) = &committed {
            tracing::warn!(error.cause = %error, "a commit failed");
            // SQLite may have rolled back by itself.
            let _ended = connection.execute_batch("ROLLBACK");
        }
        for work in done {
            work.end(committed.as_ref().copied().map_err(DbError::from));
        }
    }
}

/// Runs one write in a savepoint; a failed one is rolled back alone. Work that panics is dropped.
fn attempt(connection: &Connection, mut work: Box<dyn Work>) -> Option<Box<dyn Work>> {
    if let Err(error) = connection.execute_batch("SAVEPOINT work") {
        work.end(Err(error.into()));
        return None;
    }
    let done = catch_unwind(AssertUnwindSafe(|| work.run(&Tx::on_sqlite(connection))));
    let succeeded = matches!(done, Ok(Run::Succeeded));
    let end = if succeeded { "RELEASE work" } else { "ROLLBACK TO work; RELEASE work" };
    // If the work ended the whole transaction, the commit fails too and reports it.
    let _ended = connection.execute_batch(end);
    match done {
        Ok(Run::Succeeded | Run::Failed) => Some(work),
        // The only writer met the lock of another process for longer than its timeout.
        Ok(Run::Transient(error)) => {
            work.end(Err(error));
            None
        }
        Err(_panic) => None,
    }
}

/// Opens a connection, for use by one thread at a time.
fn connect(file: &Path, page_size: PageSize) -> Result<Connection, DbError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Before anything is written: the page size of an existing database does not change.
    connection.pragma_update(None, "page_size", page_size.bytes())?;
    // FULL: a commit survives a power failure.
    enable_wal(&connection)?;
    // Plans must not depend on bound values: otherwise a cached statement is compiled again whenever its parameters change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", page_size.checkpoint_pages())?;
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

/// Runs a statement for each set of parameters; returns the number of changed rows.
pub(super) fn execute<'p, const N: usize>(
    connection: &Connection,
    sql: &str,
    params: impl IntoIterator<Item = [Param<'p>; N]>,
) -> Result<usize, DbError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut changed = 0;
    for params in params {
        changed += statement.execute(rusqlite::params_from_iter(params))?;
    }
    Ok(changed)
}

/// Runs a query for each set of parameters.
pub(super) fn query<'p, T, const N: usize>(
    connection: &Connection,
    sql: &str,
    params: impl IntoIterator<Item = [Param<'p>; N]>,
    mut read: impl FnMut(&rusqlite::Row<'_>) -> Result<T, DbError>,
) -> Result<Vec<Vec<T>>, DbError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut all = Vec::new();
    for params in params {
        let mut rows = statement.query(rusqlite::params_from_iter(params))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        all.push(found);
    }
    Ok(all)
}

/// Runs statements without parameters.
pub(super) fn batch(connection: &Connection, sql: &str) -> Result<(), DbError> {
    Ok(connection.execute_batch(sql)?)
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match *self {
            Self::Integer(number) => number.map(ValueRef::Integer),
            Self::Text(text) => text.map(|text| ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => bytes.map(ValueRef::Blob),
        };
        Ok(ToSqlOutput::Borrowed(value.unwrap_or(ValueRef::Null)))
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&rusqlite::Error> for DbError {
    fn from(error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase};
        let cause = DriverError::new(error);
        let extended = error.sqlite_error().map(|failure| failure.extended_code);
        match error.sqlite_error_code() {
            Some(DiskFull) => Self::Full(cause),
            // The shared-memory file of WAL mode could not grow.
            _ if extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => Self::Full(cause),
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy(cause),
            Some(DatabaseCorrupt | NotADatabase) => Self::Corrupt(cause),
            _ => Self::Sql(cause),
        }
    }
}
