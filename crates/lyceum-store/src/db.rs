//! The database: one writer thread with group commit, and concurrent readers.
//!
//! A commit waits for fsync, so queued writes share one. A write that fails is rolled back alone, by a savepoint.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::{DbError, Tx, migrations, sql};

/// Maximum number of queued writes.
const QUEUE_CAPACITY: usize = 1024;

/// Maximum number of writes in one commit.
const MAX_GROUP_COMMIT: usize = 128;

/// Maximum number of idle reader connections.
const MAX_IDLE_READERS: usize = 4;

/// Reports the outcome of the commit to the caller.
type Reply = Box<dyn FnOnce(Result<(), DbError>) + Send>;

/// A queued write: runs in the transaction, or gets the error why there is none; returns whether it succeeded, and
/// its reply.
type Work = Box<dyn FnOnce(Result<&Tx<'_>, DbError>) -> (bool, Reply) + Send>;

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Db(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: PathBuf,
    /// `None` once the writer is told to stop.
    work: Option<mpsc::Sender<Work>>,
    writer: Option<JoinHandle<()>>,
    readers: Mutex<Vec<Connection>>,
}

impl Db {
    /// Opens the database file, creates it if it doesn't exist, and runs migrations. Blocks.
    ///
    /// A corrupt file is an error, also if the corruption was detected during earlier use; see [`Db::recreate`].
    pub fn open(file: &Path) -> Result<Self, DbError> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(DbError::Folder)?;
        }
        if corruption_marker(file).exists() {
            return Err(DbError::MarkedCorrupt);
        }
        let connection = open(file)?;
        let (work, waiting) = mpsc::channel(QUEUE_CAPACITY);
        let writer = std::thread::Builder::new()
            .name("lyceum-db".to_owned())
            .spawn(move || write_all(&connection, waiting))
            .map_err(DbError::Folder)?;
        Ok(Self(Arc::new(Inner {
            file: file.to_owned(),
            work: Some(work),
            writer: Some(writer),
            readers: Mutex::default(),
        })))
    }

    /// Moves a corrupt database aside and opens a new one: all of its content can be rebuilt from the sources. The
    /// caller must hold the leader lock, because processes that have the old file open continue to use it.
    pub fn recreate(file: &Path) -> Result<Self, DbError> {
        move_aside(file).map_err(DbError::Folder)?;
        Self::open(file)
    }

    /// Runs `work` in its own transaction; when this returns, the changes are durable. Failed work changes
    /// nothing.
    ///
    /// Not cancelled by dropping the future.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let (sender, outcome) = oneshot::channel();
        let work: Work = Box::new(move |tx| {
            let result = tx.and_then(work);
            let succeeded = result.is_ok();
            let reply = move |committed: Result<(), DbError>| {
                // An error of the work takes precedence over one of the commit. The receiver may be gone.
                let _receiver_gone = sender.send(result.and_then(|value| committed.map(|()| value)));
            };
            (succeeded, Box::new(reply))
        });
        let queue = self.0.work.as_ref().ok_or(DbError::Closed)?;
        queue.send(work).await.map_err(|_| DbError::Closed)?;
        let outcome = outcome.await.unwrap_or(Err(DbError::Closed));
        if let Err(DbError::Corrupt(_)) = outcome {
            self.mark_corrupt();
        }
        outcome
    }

    /// Runs `work` on a consistent snapshot.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let db = self.clone();
        tokio::task::spawn_blocking(move || db.read_here(work)).await.unwrap_or(Err(DbError::Closed))
    }

    /// Runs `work` on a consistent snapshot, on this thread. Blocks.
    pub fn read_here<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T, DbError>) -> Result<T, DbError> {
        let answer = self.read_once(work);
        if let Err(DbError::Corrupt(_) | DbError::Content(_)) = answer {
            self.mark_corrupt();
        }
        answer
    }

    fn read_once<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T, DbError>) -> Result<T, DbError> {
        let kept = self.readers().pop();
        let connection = kept.map_or_else(|| sql::connect(&self.0.file), Ok)?;
        connection.execute_batch(sql::BEGIN_READ)?;
        let answer = work(&Tx::on(&connection));
        connection.execute_batch("ROLLBACK")?;
        let mut readers = self.readers();
        if readers.len() < MAX_IDLE_READERS {
            readers.push(connection);
        }
        answer
    }

    /// Leaves a marker file, so that the next [`Db::open`] reports the corruption.
    fn mark_corrupt(&self) {
        if let Err(error) = std::fs::write(corruption_marker(&self.0.file), "") {
            tracing::warn!(error.cause = %error, "could not mark the database as corrupt");
        }
    }

    fn readers(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.0.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.work = None;
        if let Some(writer) = self.writer.take() {
            // If the writer panicked, its callers got `DbError::Closed`.
            let _ended = writer.join();
        }
    }
}

fn open(file: &Path) -> Result<Connection, DbError> {
    let connection = sql::connect(file)?;
    migrations::run(&connection)?;
    Ok(connection)
}

/// Renames a corrupt database, and removes its WAL, shared-memory and marker files.
fn move_aside(file: &Path) -> std::io::Result<()> {
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
fn write_all(connection: &Connection, mut waiting: mpsc::Receiver<Work>) {
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
fn write_batch(connection: &Connection, batch: impl Iterator<Item = Work>) {
    let mut batch = batch.peekable();
    while batch.peek().is_some() {
        if let Err(error) = connection.execute_batch(sql::BEGIN_WRITE) {
            tracing::warn!(error.cause = %error, "could not begin a transaction");
            return batch.for_each(|work| work(Err(clone_error(&error))).1(Ok(())));
        }
        let mut replies: Vec<Reply> = Vec::new();
        // A full disk can roll back the whole transaction halfway.
        while let Some(work) = batch.next_if(|_| !connection.is_autocommit()) {
            replies.extend(attempt(connection, work));
        }
        let committed = connection.execute_batch("COMMIT");
        if let Err(error) = &committed {
            tracing::warn!(error.cause = %error, "a commit failed");
            // SQLite may have rolled back by itself.
            let _ended = connection.execute_batch("ROLLBACK");
        }
        for reply in replies {
            reply(match &committed {
                Ok(()) => Ok(()),
                Err(error) => Err(clone_error(error)),
            });
        }
    }
}

/// Runs one write in a savepoint; a failed one is rolled back alone.
fn attempt(connection: &Connection, work: Work) -> Option<Reply> {
    if let Err(error) = connection.execute_batch("SAVEPOINT work") {
        return Some(work(Err(clone_error(&error))).1);
    }
    let done = catch_unwind(AssertUnwindSafe(|| work(Ok(&Tx::on(connection)))));
    let succeeded = matches!(done, Ok((true, _)));
    let end = if succeeded { "RELEASE work" } else { "ROLLBACK TO work; RELEASE work" };
    // If the work ended the whole transaction, the commit fails too and reports it.
    let _ended = connection.execute_batch(end);
    done.ok().map(|(_, reply)| reply)
}

/// Copies an error, one for each waiting caller.
fn clone_error(error: &rusqlite::Error) -> DbError {
    DbError::from(match error {
        rusqlite::Error::SqliteFailure(failure, text) => {
            rusqlite::Error::SqliteFailure(*failure, text.clone())
        }
        other => rusqlite::Error::ToSqlConversionFailure(other.to_string().into()),
    })
}
