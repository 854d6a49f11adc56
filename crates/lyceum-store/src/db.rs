//! The database: transactions, given as closures that may run more than once.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    path::Path,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot};

use crate::{
    DbError, DriverError, PostgresSettings, Tx,
    leases::Takeover,
    migrations,
    sql::{
        postgres::{self, Postgres},
        sqlite::{self, PageSize, Sqlite},
    },
};

/// How long a read from a server may take, with its retries.
const READ_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum number of queued writes of one writer.
const QUEUE_CAPACITY: usize = 1024;

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Db(Arc<Inner>);

/// The queue of a writer.
type Queue = mpsc::Sender<Box<dyn Work>>;

/// A write, its queue, and where its outcome is reported.
type Queued<'a, T> = (&'a Queue, Box<dyn Work>, oneshot::Receiver<Result<T, DbError>>);

#[derive(Debug)]
struct Inner {
    engine: Engine,
    /// Empty once the writers are told to stop.
    queues: Vec<Queue>,
    writers: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// A queued write.
pub(crate) trait Work: Send {
    /// What it is about.
    fn about(&self) -> &str;

    /// When it was queued.
    fn queued(&self) -> Instant;

    /// Runs in a transaction and keeps the result, which replaces that of an earlier run.
    fn run(&mut self, tx: &Tx<'_>) -> Run;

    /// Reports the outcome to the caller. An error of the work takes precedence over one of the commit.
    fn end(self: Box<Self>, committed: Result<(), DbError>);
}

/// How work went.
#[derive(Debug)]
pub(crate) enum Run {
    /// It can be committed.
    Succeeded,
    /// It must be rolled back; [`Work::end`] reports why.
    Failed,
    /// It must be rolled back, and may succeed when it runs again.
    Transient(DbError),
}

struct Write<T, F> {
    about: String,
    queued: Instant,
    work: F,
    result: Option<Result<T, DbError>>,
    caller: oneshot::Sender<Result<T, DbError>>,
}

impl<T: Send, F: Fn(&Tx<'_>) -> Result<T, DbError> + Send> Work for Write<T, F> {
    fn about(&self) -> &str {
        &self.about
    }

    fn queued(&self) -> Instant {
        self.queued
    }

    fn run(&mut self, tx: &Tx<'_>) -> Run {
        self.result = None;
        match (self.work)(tx) {
            Err(error) if error.is_transient() => Run::Transient(error),
            result => match self.result.insert(result) {
                Ok(_) => Run::Succeeded,
                Err(_) => Run::Failed,
            },
        }
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
        Self::open_with(file, PageSize::Small)
    }

    /// Opens a database file like [`Db::open`]; a new one gets this page size. Blocks.
    pub fn open_with(file: &Path, page_size: PageSize) -> Result<Self, DbError> {
        let (engine, connection) = Sqlite::open(file, page_size, migrations::run)?;
        let writer = writer("lyceum-db", move |waiting| sqlite::write_all(&connection, waiting))?;
        Ok(Self::new(Engine::Sqlite(engine), vec![writer]))
    }

    /// Moves a corrupt database aside and opens a new one: all of its content can be rebuilt from the sources. The
    /// caller must hold the leader lock, because processes that have the old file open continue to use it.
    pub fn recreate(file: &Path, page_size: PageSize) -> Result<Self, DbError> {
        sqlite::move_aside(file).map_err(DbError::Folder)?;
        Self::open_with(file, page_size)
    }

    /// Connects to Postgres and runs migrations. Blocks, and must not be called on a thread that runs async tasks.
    pub fn connect(settings: &PostgresSettings) -> Result<Self, DbError> {
        let engine = Postgres::open(settings, migrations::run)?;
        let writers = (0..settings.writers.max(1)).map(|number| {
            let server = engine.server().clone();
            writer(&format!("lyceum-db-{number}"), move |waiting| postgres::write_all(&server, waiting))
        });
        let writers = writers.collect::<Result<Vec<_>, _>>()?;
        Ok(Self::new(Engine::Postgres(engine), writers))
    }

    fn new(engine: Engine, writers: Vec<(Queue, JoinHandle<()>)>) -> Self {
        let (queues, writers) = writers.into_iter().unzip();
        Self(Arc::new(Inner { engine, queues, writers }))
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
        self.check_available()?;
        let (queue, write, outcome) = self.write_of(about.into(), work)?;
        queue.send(write).await.map_err(|_| DbError::Closed)?;
        self.marked(outcome.await)
    }

    /// Like [`Db::write`], for threads that may block: not for those that run async tasks.
    pub fn write_blocking<T: Send + 'static>(
        &self,
        about: impl Into<String>,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        self.check_available()?;
        let (queue, write, outcome) = self.write_of(about.into(), work)?;
        queue.blocking_send(write).map_err(|_| DbError::Closed)?;
        self.marked(outcome.blocking_recv())
    }

    /// A write about something.
    fn write_of<T: Send + 'static>(
        &self,
        about: String,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<Queued<'_, T>, DbError> {
        // Always the same writer, so that writes about one thing don't keep all of them waiting for its lock.
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&about);
        let count = u64::try_from(self.0.queues.len()).unwrap_or(1).max(1);
        let queue = usize::try_from(hash % count).ok().and_then(|number| self.0.queues.get(number));
        let (caller, outcome) = oneshot::channel();
        let write = Write { about, queued: Instant::now(), work, result: None, caller };
        Ok((queue.ok_or(DbError::Closed)?, Box::new(write), outcome))
    }

    /// An error if the server did not answer a moment ago.
    fn check_available(&self) -> Result<(), DbError> {
        match &self.0.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(engine) => engine.availability().check().map(drop),
        }
    }

    /// The outcome of a write; remembers corruption, and whether the server answers.
    fn marked<T>(
        &self,
        outcome: Result<Result<T, DbError>, oneshot::error::RecvError>,
    ) -> Result<T, DbError> {
        let outcome = outcome.unwrap_or(Err(DbError::Closed));
        match (&outcome, &self.0.engine) {
            (Err(DbError::Corrupt(_)), Engine::Sqlite(engine)) => engine.mark_corrupt(),
            (_, Engine::Sqlite(_)) => {}
            (outcome, Engine::Postgres(engine)) => engine.availability().record(outcome),
        }
        outcome
    }

    /// Runs `work` on a consistent snapshot. It may run more than once.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let permit = match &self.0.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(engine) => Some(engine.permit().await?),
        };
        let db = self.clone();
        let read = move || match (&db.0.engine, permit) {
            (Engine::Postgres(engine), Some(permit)) => engine.read(&permit, work),
            _ => db.read_blocking(work),
        };
        let read = tokio::task::spawn_blocking(read);
        let Engine::Postgres(engine) = &self.0.engine else {
            return read.await.unwrap_or(Err(DbError::Closed));
        };
        match tokio::time::timeout(READ_TIMEOUT, read).await {
            Ok(answer) => answer.unwrap_or(Err(DbError::Closed)),
            Err(elapsed) => {
                engine.availability().failed();
                Err(DbError::Unavailable(DriverError::new(&elapsed)))
            }
        }
    }

    /// Asks the database for an answer.
    pub async fn ping(&self) -> Result<(), DbError> {
        self.read(|tx| tx.rows("SELECT 1", [], |row| row.integer(0)).map(drop)).await
    }

    /// Like [`Db::read`], on this thread, which must be one that may block: not one that runs async tasks.
    pub fn read_blocking<T>(&self, work: impl Fn(&Tx<'_>) -> Result<T, DbError>) -> Result<T, DbError> {
        match &self.0.engine {
            Engine::Sqlite(engine) => engine.read(work),
            Engine::Postgres(engine) => engine.read(&engine.permit_blocking()?, work),
        }
    }

    /// Whether processes with other data folders use the database too. A file is used by those of its folder only.
    pub fn is_shared(&self) -> bool {
        matches!(self.0.engine, Engine::Postgres(_))
    }

    /// Which leases a process may take over that holds the lock of its data folder.
    pub fn takeover(&self) -> Takeover {
        if self.is_shared() { Takeover::Expired } else { Takeover::Any }
    }
}

/// Starts a writer thread; returns its queue too.
fn writer(
    name: &str,
    write_all: impl FnOnce(mpsc::Receiver<Box<dyn Work>>) + Send + 'static,
) -> Result<(Queue, JoinHandle<()>), DbError> {
    let (queue, waiting) = mpsc::channel(QUEUE_CAPACITY);
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || write_all(waiting));
    Ok((queue, thread.map_err(DbError::Folder)?))
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queues.clear();
        for writer in self.writers.drain(..) {
            // If a writer panicked, its callers got `DbError::Closed`.
            let _ended = writer.join();
        }
    }
}
