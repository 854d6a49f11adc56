//! Postgres: several writer threads, and readers on blocking threads, each with a connection of its own.
//!
//! A write is READ COMMITTED and begins with a lock that is named by what it is about and ends with the transaction, so
//! each statement sees what the write before it did. Writes that were refused because of others, or that lost their
//! connection before `COMMIT`, run again. If the answer to `COMMIT` is lost, the server is asked what became of the
//! transaction; it never just runs again.
//!
//! No session state: no `SET`, session locks or temporary tables, so that a pooler may hand out another server connection
//! for each transaction.

mod availability;
mod connection;
mod tls;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use lyceum_net::{Secret, with_jitter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use availability::{Attempt, Availability};
pub(crate) use connection::{Connection, Integer, field};

use super::Tx;
use crate::{
    DbError, DriverError,
    db::{Run, Work},
};

/// Pauses before a write runs again; the last one repeats.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(5),
    Duration::from_millis(20),
    Duration::from_millis(80),
    Duration::from_millis(320),
    Duration::from_secs(1),
];

/// How long a write or read is tried again after a conflict or a lost connection, counted from its call.
pub(crate) const RETRY_TIME: Duration = Duration::from_secs(10);

/// Attempts to find out what became of a commit, and the pause before each.
const SETTLE_ATTEMPTS: u32 = 40;
const SETTLE_PAUSE: Duration = Duration::from_millis(250);

/// Limits of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(30);

/// How to connect to Postgres.
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// `postgres://user:password@host[,host]/database`. With several hosts, the one that accepts writes is used.
    pub url: Secret,
    /// Root certificates of the server as a PEM file, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// Whether statements are prepared once per connection.
    pub statements: Statements,
    /// Maximum number of connections for reads.
    pub readers: usize,
    /// Number of connections for writes.
    pub writers: usize,
}

/// Whether statements are prepared once per connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Statements {
    /// Prepared once, by name.
    #[default]
    Named,
    /// Parsed each time: for poolers that don't know prepared statements in transaction mode, such as PgBouncer before
    /// 1.21.
    Unnamed,
}

impl PostgresSettings {
    /// Settings with the default limits.
    pub fn new(url: Secret) -> Self {
        Self { url, ca_file: None, statements: Statements::Named, readers: 8, writers: 4 }
    }
}

/// Where to connect, and how.
#[derive(Debug)]
pub(crate) struct Server {
    config: tokio_postgres::Config,
    tls: tls::Tls,
    statements: Statements,
}

/// The idle reader connections, and how many there may be.
#[derive(Debug)]
pub(crate) struct Postgres {
    server: Arc<Server>,
    readers: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    availability: Availability,
}

/// A free reader.
#[derive(Debug)]
pub(crate) struct Permit {
    _slot: OwnedSemaphorePermit,
    attempt: Attempt,
}

impl Postgres {
    /// Connects and migrates the schema. Blocks.
    pub(crate) fn open(
        settings: &PostgresSettings,
        migrate: impl Fn(&Tx<'_>) -> Result<(), DbError>,
    ) -> Result<Self, DbError> {
        let server = Arc::new(Server::new(settings)?);
        let until = Instant::now() + RETRY_TIME;
        retry(until, || {
            let connection = Connection::open(&server)?;
            connection.begin_write("schema")?;
            let migrated = migrate(&Tx::on_postgres(&connection));
            connection.end(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
            migrated
        })?;
        let permits = Arc::new(Semaphore::new(settings.readers.max(1)));
        Ok(Self { server, readers: Mutex::default(), permits, availability: Availability::default() })
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Whether the server answers, as far as is known.
    pub(crate) fn availability(&self) -> &Availability {
        &self.availability
    }

    /// Waits for a free reader.
    pub(crate) async fn permit(&self) -> Result<Permit, DbError> {
        let attempt = self.availability.check()?;
        let slot = tokio::time::timeout(RETRY_TIME, self.permits.clone().acquire_owned()).await;
        match slot {
            Ok(slot) => Ok(Permit { _slot: slot.map_err(|_| DbError::Closed)?, attempt }),
            Err(_) => Err(DbError::Busy(DriverError::text("no reader became free in time"))),
        }
    }

    /// Like [`Postgres::permit`]. Blocks.
    pub(crate) fn permit_blocking(&self) -> Result<Permit, DbError> {
        let attempt = self.availability.check()?;
        let slot = futures::executor::block_on(self.permits.clone().acquire_owned());
        Ok(Permit { _slot: slot.map_err(|_| DbError::Closed)?, attempt })
    }

    /// Runs `work` on a consistent snapshot. Blocks.
    pub(crate) fn read<T>(
        &self,
        permit: &Permit,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let until = Instant::now() + if permit.attempt.is_probe() { Duration::ZERO } else { RETRY_TIME };
        let answer = retry(until, || {
            let idle = self.readers().pop().filter(|connection| !connection.is_closed());
            let connection = idle.map_or_else(|| Connection::open(&self.server), Ok)?;
            connection.begin_read()?;
            let answer = work(&Tx::on_postgres(&connection))?;
            connection.end("ROLLBACK")?;
            self.readers().push(connection);
            Ok(answer)
        });
        self.availability.record(&answer);
        answer
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    fn new(settings: &PostgresSettings) -> Result<Self, DbError> {
        let invalid = |error: &dyn std::error::Error| DbError::Address(DriverError::new(error));
        let mut config: tokio_postgres::Config =
            settings.url.reveal().parse().map_err(|error: tokio_postgres::Error| invalid(&error))?;
        if config.get_target_session_attrs() == TargetSessionAttrs::Any {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        if config.get_application_name().is_none() {
            config.application_name("lyceum");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES)
            .tcp_user_timeout(TCP_USER_TIMEOUT);
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => tls::Tls::unused(),
            _ => tls::Tls::new(settings.ca_file.as_deref())?,
        };
        Ok(Self { config, tls, statements: settings.statements })
    }
}

/// A writer thread: runs queued writes until all senders are dropped.
pub(crate) fn write_all(server: &Server, mut waiting: mpsc::Receiver<Box<dyn Work>>) {
    let mut writer = Writer { server, connection: None };
    while let Some(mut work) = waiting.blocking_recv() {
        match catch_unwind(AssertUnwindSafe(|| writer.write(&mut *work))) {
            Ok(committed) => work.end(committed),
            // It is dropped, and its caller told so; the connection is in the middle of something.
            Err(_panic) => writer.connection = None,
        }
    }
}

struct Writer<'a> {
    server: &'a Server,
    connection: Option<Connection>,
}

impl Writer<'_> {
    fn write(&mut self, work: &mut dyn Work) -> Result<(), DbError> {
        retry(work.queued() + RETRY_TIME, || self.write_once(work))
    }

    fn write_once(&mut self, work: &mut dyn Work) -> Result<(), DbError> {
        let open = self.connection.take().filter(|connection| !connection.is_closed());
        let connection = open.map_or_else(|| Connection::open(self.server), Ok)?;
        let transaction = connection.begin_write(work.about())?;
        let run = work.run(&Tx::on_postgres(&connection));
        if connection.has_failed() || !matches!(run, Run::Succeeded) {
            // If the connection is lost, the server rolls back too.
            if connection.end("ROLLBACK").is_ok() {
                self.connection = Some(connection);
            }
            return match run {
                Run::Transient(error) => Err(error),
                // Reported by the work itself.
                Run::Failed => Ok(()),
                Run::Succeeded => Err(DbError::Sql(DriverError::text("work went on after an error"))),
            };
        }
        match connection.end("COMMIT") {
            Ok(()) => {
                self.connection = Some(connection);
                Ok(())
            }
            // Refused, so it was rolled back.
            Err(error @ DbError::Conflict(_)) => {
                self.connection = Some(connection);
                Err(error)
            }
            Err(error) => {
                drop(connection);
                tracing::warn!(error.cause = %error, "the answer to a commit was lost; asking for its outcome");
                if self.was_committed(&transaction)? { Ok(()) } else { Err(error) }
            }
        }
    }

    /// Asks the server what became of a transaction.
    fn was_committed(&mut self, transaction: &connection::Transaction) -> Result<bool, DbError> {
        for _attempt in 0..SETTLE_ATTEMPTS {
            std::thread::sleep(SETTLE_PAUSE);
            let Ok(connection) = Connection::open(self.server) else { continue };
            match connection.outcome(transaction) {
                Ok(connection::Outcome::Committed) => return Ok(true),
                Ok(connection::Outcome::Aborted) => return Ok(false),
                Ok(connection::Outcome::Unknown) => break,
                // The old connection still ends, or the server is not back yet.
                Ok(connection::Outcome::InProgress) | Err(_) => {}
            }
        }
        Err(DbError::Unknown)
    }
}

/// Runs `attempt` again after transient errors, until a deadline.
fn retry<T>(until: Instant, mut attempt: impl FnMut() -> Result<T, DbError>) -> Result<T, DbError> {
    let [.., longest] = PAUSES;
    let mut pauses = PAUSES.into_iter();
    loop {
        match attempt() {
            Err(error) if error.is_transient() => {
                let [random, ..] = getrandom::u32().unwrap_or_default().to_le_bytes();
                let pause = with_jitter(pauses.next().unwrap_or(longest), random);
                if Instant::now() + pause > until {
                    return Err(error);
                }
                tracing::debug!(error.cause = %error, "a transaction runs again");
                std::thread::sleep(pause);
            }
            done => return done,
        }
    }
}
