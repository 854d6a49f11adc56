//! The database: transactions, given as closures that may run more than once.

use std::{path::Path, sync::Arc, thread::JoinHandle};

use tokio::sync::{mpsc, oneshot};

use crate::{
    DbError, Tx,
    leases::Takeover,
    migrations,
    sql::sqlite::{self, Sqlite},
};

/// Maximum number of queued writes.
const QUEUE_CAPACITY: usize = 1024;

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Db(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    engine: Sqlite,
    /// `None` once the writer is told to stop.
    queue: Option<mpsc::Sender<Box<dyn Work>>>,
    writer: Option<JoinHandle<()>>,
}

/// A queued write.
pub(crate) trait Work: Send {
    /// Runs in a transaction and keeps the result, which replaces that of an earlier run; returns whether it succeeded.
    fn run(&mut self, tx: &Tx<'_>) -> bool;

    /// Reports the outcome to the caller. An error of the work takes precedence over one of the commit.
    fn end(self: Box<Self>, committed: Result<(), DbError>);
}

struct Write<T, F> {
    work: F,
    result: Option<Result<T, DbError>>,
    caller: oneshot::Sender<Result<T, DbError>>,
}

impl<T: Send, F: Fn(&Tx<'_>) -> Result<T, DbError> + Send> Work for Write<T, F> {
    fn run(&mut self, tx: &Tx<'_>) -> bool {
        let result = (self.work)(tx);
        self.result.insert(result).is_ok()
    }

    fn end(self: Box<Self>, committed: Result<(), DbError>) {
        let result = match self.result {
            Some(result) => result.and_then(|value| committed.map(|()| value)),
            None => Err(committed.err().unwrap_or(DbError::Closed)),
        };
        let _caller_gone = self.caller.send(result);
    }
}

impl Db {
    /// Opens a database file, creates it if it doesn't exist, and runs migrations. Blocks.
    ///
    /// A corrupt file is an error, also if the corruption was detected during earlier use; see [`Db::recreate`].
    pub fn open(file: &Path) -> Result<Self, DbError> {
        let (engine, connection) = Sqlite::open(file, migrations::run)?;
        let (queue, waiting) = mpsc::channel(QUEUE_CAPACITY);
        let writer = std::thread::Builder::new()
            .name("lyceum-db".to_owned())
            .spawn(move || sqlite::write_all(&connection, waiting))
            .map_err(DbError::Folder)?;
        Ok(Self(Arc::new(Inner { engine, queue: Some(queue), writer: Some(writer) })))
    }

    /// Moves a corrupt database aside and opens a new one: all of its content can be rebuilt from the sources. The
    /// caller must hold the leader lock, because processes that have the old file open continue to use it.
    pub fn recreate(file: &Path) -> Result<Self, DbError> {
        sqlite::move_aside(file).map_err(DbError::Folder)?;
        Self::open(file)
    }

    /// Runs `work` in its own transaction; when this returns, the changes are durable. Failed work changes
    /// nothing.
    ///
    /// Writes about the same thing run one after the other, each seeing what the one before wrote; writes about different
    /// things may run at the same time. `about` names it: a source, a grant, an index. The work may run more than once, so
    /// it must have no effect but on the transaction. Not cancelled by dropping the future.
    pub async fn write<T: Send + 'static>(
        &self,
        about: impl Into<String>,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        // SQLite has one writer, so everything is one after the other.
        let _serialized = about.into();
        let (caller, outcome) = oneshot::channel();
        let queue = self.0.queue.as_ref().ok_or(DbError::Closed)?;
        queue.send(Box::new(Write { work, result: None, caller })).await.map_err(|_| DbError::Closed)?;
        self.marked(outcome.await)
    }

    /// Like [`Db::write`], for threads that may block: not for those that run async tasks.
    pub fn write_blocking<T: Send + 'static>(
        &self,
        about: impl Into<String>,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let _serialized = about.into();
        let (caller, outcome) = oneshot::channel();
        let queue = self.0.queue.as_ref().ok_or(DbError::Closed)?;
        queue.blocking_send(Box::new(Write { work, result: None, caller })).map_err(|_| DbError::Closed)?;
        self.marked(outcome.blocking_recv())
    }

    /// The outcome of a write; remembers corruption.
    fn marked<T>(
        &self,
        outcome: Result<Result<T, DbError>, oneshot::error::RecvError>,
    ) -> Result<T, DbError> {
        let outcome = outcome.unwrap_or(Err(DbError::Closed));
        if let Err(DbError::Corrupt(_)) = outcome {
            self.0.engine.mark_corrupt();
        }
        outcome
    }

    /// Whether processes with other data folders use the database too. A file is used by those of its folder only.
    pub fn is_shared(&self) -> bool {
        false
    }

    /// Which leases a process may take over that holds the lock of its data folder.
    pub fn takeover(&self) -> Takeover {
        if self.is_shared() { Takeover::Expired } else { Takeover::Any }
    }

    /// Runs `work` on a consistent snapshot. It may run more than once.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let db = self.clone();
        tokio::task::spawn_blocking(move || db.read_blocking(work)).await.unwrap_or(Err(DbError::Closed))
    }

    /// Like [`Db::read`], on this thread, which must be one that may block: not one that runs async tasks.
    pub fn read_blocking<T>(&self, work: impl Fn(&Tx<'_>) -> Result<T, DbError>) -> Result<T, DbError> {
        self.0.engine.read(work)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // If the writer panicked, its callers got `DbError::Closed`.
            let _ended = writer.join();
        }
    }
}
