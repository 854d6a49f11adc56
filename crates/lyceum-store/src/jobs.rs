//! Jobs: durable work, one for each key of a queue.
//!
//! A job is claimed for a while, done or failed. Whoever claimed it and died loses the claim when its time is over, and
//! a job that was asked for again meanwhile is not taken away by who did the older one. So work is done at least once,
//! and must be such that twice is no harm.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_net::Backoff;

use crate::{DbError, Row, Tx, sql};

/// A job that was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What it is about; one job for each.
    pub key: String,
    /// What is to be done.
    pub payload: String,
    /// Which asking for it this is.
    pub version: i64,
    /// Attempt number, starting at 1.
    pub attempts: i64,
}

/// A job that failed, and when it is tried again, if ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What it is about.
    pub key: String,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried again; nothing once it was tried often enough.
    pub due: Option<Timestamp>,
    /// Why it failed the last time.
    pub error: String,
}

/// How often something is tried, and how long is waited before the next time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// How often at most.
    pub limit: i64,
    /// How long is waited after the first failure; twice as long after each further one.
    pub first: Duration,
}

impl Retries {
    /// When to try again after so many tries, if ever.
    pub fn next(&self, attempts: i64, now: Timestamp) -> Option<Timestamp> {
        let backoff = Backoff { first: self.first, max: MAX_RETRY_DELAY };
        let wait = backoff.after(u32::try_from(attempts).unwrap_or_default().max(1));
        (attempts < self.limit).then(|| now.checked_add(wait).unwrap_or(Timestamp::MAX))
    }
}

/// The longest that is waited before the next time, however often it failed.
const MAX_RETRY_DELAY: Duration = Duration::from_hours(24);

/// The due time of what is not tried any more.
const NEVER: i64 = i64::MAX;

/// Asks for a job. One that is there for the key already is replaced, and begins anew.
pub fn enqueue(tx: &Tx<'_>, queue: &str, key: &str, payload: &str, now: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO jobs (queue, key, payload, version, attempts, due, leased_until)
         VALUES ($1, $2, $3, 1, 0, $4, 0)
         ON CONFLICT (queue, key) DO UPDATE SET payload = excluded.payload, version = jobs.version + 1,
             attempts = 0, due = excluded.due, error = NULL",
        [queue.into(), key.into(), payload.into(), now.as_millisecond().into()],
    )?;
    Ok(())
}

/// Claims jobs that are due, for as long as the lease.
pub fn claim(
    tx: &Tx<'_>,
    queue: &str,
    now: Timestamp,
    lease: Duration,
    most: usize,
) -> Result<Vec<Job>, DbError> {
    let until = now.checked_add(lease).unwrap_or(Timestamp::MAX).as_millisecond();
    let claimed = sql::CLAIMED;
    tx.rows(
        &format!(
            "UPDATE jobs SET attempts = attempts + 1, leased_until = $1 WHERE queue = $2 AND key IN
                 (SELECT key FROM jobs WHERE queue = $2 AND due <= $3 AND leased_until <= $3
                  ORDER BY due, key LIMIT $4 {claimed})
             RETURNING key, payload, version, attempts"
        ),
        [
            until.into(),
            queue.into(),
            now.as_millisecond().into(),
            i64::try_from(most).unwrap_or(i64::MAX).into(),
        ],
        |row| {
            Ok(Job {
                key: row.text(0)?,
                payload: row.text(1)?,
                version: row.whole(2)?,
                attempts: row.whole(3)?,
            })
        },
    )
}

/// Takes a job away that was done, unless it was asked for again meanwhile; then it is free to be claimed.
pub fn done(tx: &Tx<'_>, queue: &str, job: &Job) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM jobs WHERE queue = $1 AND key = $2 AND version = $3",
        [queue.into(), job.key.as_str().into(), job.version.into()],
    )?;
    release(tx, queue, &job.key)
}

/// Writes down why a job failed, and when it is tried again.
pub fn failed(
    tx: &Tx<'_>,
    queue: &str,
    job: &Job,
    error: &str,
    again: Option<Timestamp>,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE jobs SET due = $1, error = $2 WHERE queue = $3 AND key = $4 AND version = $5",
        [
            again.map_or(NEVER, Timestamp::as_millisecond).into(),
            error.into(),
            queue.into(),
            job.key.as_str().into(),
            job.version.into(),
        ],
    )?;
    release(tx, queue, &job.key)
}

fn release(tx: &Tx<'_>, queue: &str, key: &str) -> Result<(), DbError> {
    tx.execute("UPDATE jobs SET leased_until = 0 WHERE queue = $1 AND key = $2", [queue.into(), key.into()])?;
    Ok(())
}

/// Ends every claim on a queue: for whoever is alone on it, after a start.
pub fn release_all(tx: &Tx<'_>, queue: &str) -> Result<(), DbError> {
    tx.execute("UPDATE jobs SET leased_until = 0 WHERE queue = $1 AND leased_until > 0", [queue.into()])?;
    Ok(())
}

/// The same, and what failed is tried now, also what was tried often enough.
pub fn revive(tx: &Tx<'_>, queue: &str, now: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE jobs SET due = $1, attempts = CASE WHEN due = $2 THEN 0 ELSE attempts END
         WHERE queue = $3 AND due > $1",
        [now.as_millisecond().into(), NEVER.into(), queue.into()],
    )?;
    release_all(tx, queue)
}

/// When the next job can be claimed, if there is one.
pub fn next_due(tx: &Tx<'_>, queue: &str) -> Result<Option<Timestamp>, DbError> {
    let found = tx.row(
        "SELECT min(CASE WHEN leased_until > due THEN leased_until ELSE due END) FROM jobs
         WHERE queue = $1 AND due < $2",
        [queue.into(), NEVER.into()],
        |row| row.maybe_whole(0),
    )?;
    Ok(found.flatten().and_then(|due| Timestamp::from_millisecond(due).ok()))
}

/// How many jobs of a queue are not done.
pub fn count(tx: &Tx<'_>, queue: &str) -> Result<i64, DbError> {
    let found = tx.row("SELECT count(*) FROM jobs WHERE queue = $1", [queue.into()], |row| row.whole(0))?;
    Ok(found.unwrap_or_default())
}

/// The jobs of a queue that failed, the first of them by key.
pub fn failures(tx: &Tx<'_>, queue: &str, most: usize) -> Result<Vec<Failure>, DbError> {
    let read = |row: &Row<'_>| {
        let due = row.whole(2)?;
        Ok(Failure {
            key: row.text(0)?,
            attempts: row.whole(1)?,
            due: (due != NEVER).then(|| Timestamp::from_millisecond(due).unwrap_or(Timestamp::MAX)),
            error: row.text(3)?,
        })
    };
    tx.rows(
        "SELECT key, attempts, due, error FROM jobs WHERE queue = $1 AND error IS NOT NULL ORDER BY key LIMIT $2",
        [queue.into(), i64::try_from(most).unwrap_or(i64::MAX).into()],
        read,
    )
}
