//! The database: one writer that commits what waits together, and readers beside it.
//!
//! A commit costs a wait for the disk, so whatever waits at that moment shares one. A piece of work that fails is taken
//! back alone.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::{DbError, Tx, migrations, sql};

/// How much work may wait for the writer.
const QUEUE_CAPACITY: usize = 1024;

/// How much work may share a commit.
const MAX_GROUP_COMMIT: usize = 128;

/// How many connections of readers are kept open.
const MAX_IDLE_READERS: usize = 4;

/// What tells the caller how the commit went.
type Finish = Box<dyn FnOnce(Result<(), DbError>) + Send>;

/// Work that was asked for, given a transaction or why there is none: says whether it went well, and how to tell.
type Work = Box<dyn FnOnce(Result<&Tx<'_>, DbError>) -> (bool, Finish) + Send>;

/// The database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Db(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: PathBuf,
    /// Nothing once the writer is told to end.
    work: Option<mpsc::Sender<Work>>,
    writer: Option<JoinHandle<()>>,
    readers: Mutex<Vec<Connection>>,
}

impl Db {
    /// Opens the database in that file, makes it if it is not there, and brings it to the newest schema. Blocks.
    ///
    /// A file that can't be read any more, now or when it was in use, is an error; see [`Db::renew`].
    pub fn open(file: &Path) -> Result<Self, DbError> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(DbError::Folder)?;
        }
        if suspicion(file).exists() {
            return Err(DbError::Suspected);
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

    /// Puts a damaged database aside and opens a new one: all of it can be made again from the sources. Only for who is
    /// alone on it, for whoever has it open goes on with the old one.
    pub fn renew(file: &Path) -> Result<Self, DbError> {
        put_aside(file).map_err(DbError::Folder)?;
        Self::open(file)
    }

    /// Does work in a transaction of its own; when this returns, it is on disk. Work that fails changes nothing.
    ///
    /// Once begun it is not called off: dropping the future only means that nobody hears how it went.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let (tell, outcome) = oneshot::channel();
        let work: Work = Box::new(move |tx| {
            let done = tx.and_then(work);
            let went_well = done.is_ok();
            let finish = move |committed: Result<(), DbError>| {
                // What the work itself says is more than how the commit went. Nobody may be waiting any more.
                let _heard = tell.send(done.and_then(|done| committed.map(|()| done)));
            };
            (went_well, Box::new(finish))
        });
        let sender = self.0.work.as_ref().ok_or(DbError::Closed)?;
        sender.send(work).await.map_err(|_| DbError::Closed)?;
        let outcome = outcome.await.unwrap_or(Err(DbError::Closed));
        if let Err(DbError::Damaged(_)) = outcome {
            self.suspect();
        }
        outcome
    }

    /// Reads one consistent state.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let db = self.clone();
        tokio::task::spawn_blocking(move || db.read_here(work)).await.unwrap_or(Err(DbError::Closed))
    }

    /// Reads one consistent state on this thread. Blocks.
    pub fn read_here<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T, DbError>) -> Result<T, DbError> {
        let answer = self.read_once(work);
        if let Err(DbError::Damaged(_) | DbError::Content(_)) = answer {
            self.suspect();
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

    /// Remembers that the file is not what it should be, for whoever opens it next.
    fn suspect(&self) {
        if let Err(error) = std::fs::write(suspicion(&self.0.file), "") {
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
            // A writer that panicked has told nobody that its work was done.
            let _ended = writer.join();
        }
    }
}

fn open(file: &Path) -> Result<Connection, DbError> {
    let connection = sql::connect(file)?;
    migrations::run(&connection)?;
    Ok(connection)
}

/// Renames a damaged database, and removes what belongs to it.
fn put_aside(file: &Path) -> std::io::Result<()> {
    let free =
        (1_u32..).map(|number| beside(file, &format!(".damaged-{number}"))).find(|path| !path.exists());
    let aside = free.unwrap_or_else(|| beside(file, ".damaged-0"));
    if file.exists() {
        std::fs::rename(file, &aside)?;
    }
    for path in [beside(file, "-wal"), beside(file, "-shm"), suspicion(file)] {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    tracing::error!(aside = %aside.display(), "the database is corrupt; moved it aside and rebuilding it from the sources");
    Ok(())
}

/// What lies beside a database that turned out to be damaged.
fn suspicion(file: &Path) -> PathBuf {
    beside(file, ".damaged")
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Commits work as it comes, until nobody can send any more.
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

/// Commits all of it together. Where one piece of work ended the transaction, those after it share another.
fn write_batch(connection: &Connection, batch: impl Iterator<Item = Work>) {
    let mut batch = batch.peekable();
    while batch.peek().is_some() {
        if let Err(error) = connection.execute_batch(sql::BEGIN_WRITE) {
            tracing::warn!(error.cause = %error, "could not begin a transaction");
            return batch.for_each(|work| work(Err(again(&error))).1(Ok(())));
        }
        let mut finishes: Vec<Finish> = Vec::new();
        // A full disk can end the whole transaction in the middle.
        while let Some(work) = batch.next_if(|_| !connection.is_autocommit()) {
            finishes.extend(attempt(connection, work));
        }
        let committed = connection.execute_batch("COMMIT");
        if let Err(error) = &committed {
            tracing::warn!(error.cause = %error, "a commit failed");
            // SQLite may have ended the transaction by itself.
            let _ended = connection.execute_batch("ROLLBACK");
        }
        for finish in finishes {
            finish(match &committed {
                Ok(()) => Ok(()),
                Err(error) => Err(again(error)),
            });
        }
    }
}

/// Does one piece of work inside the transaction; what fails is taken back alone.
fn attempt(connection: &Connection, work: Work) -> Option<Finish> {
    if let Err(error) = connection.execute_batch("SAVEPOINT work") {
        return Some(work(Err(again(&error))).1);
    }
    let done = catch_unwind(AssertUnwindSafe(|| work(Ok(&Tx::on(connection)))));
    let went_well = matches!(done, Ok((true, _)));
    let end = if went_well { "RELEASE work" } else { "ROLLBACK TO work; RELEASE work" };
    // Where the work ended the whole transaction, the commit fails too, and everyone hears of it.
    let _ended = connection.execute_batch(end);
    done.ok().map(|(_, finish)| finish)
}

/// The same error once more, for each who waits.
fn again(error: &rusqlite::Error) -> DbError {
    DbError::from(match error {
        rusqlite::Error::SqliteFailure(failure, text) => {
            rusqlite::Error::SqliteFailure(*failure, text.clone())
        }
        other => rusqlite::Error::ToSqlConversionFailure(other.to_string().into()),
    })
}
