//! Durable job queues with one job per key.
//!
//! A worker claims a job for the duration of a lease, then completes or fails it. If the worker dies, the lease
//! expires and the job can be claimed again. Completing an older version of a job doesn't delete it if it was
//! enqueued again meanwhile, and a worker whose lease expired can't end the claim of another. So jobs run at least once,
//! and must be idempotent.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_net::Backoff;

use crate::{DbError, Row, Tx};

/// A claimed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Key, unique within its queue.
    pub key: String,
    /// Payload.
    pub payload: String,
    /// Increased each time the job is enqueued again.
    pub version: i64,
    /// Attempt number, starting at 1.
    pub attempts: i64,
}

/// A failed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Key of the job.
    pub key: String,
    /// Number of attempts.
    pub attempts: i64,
    /// Time of the next attempt; `None` if the attempts are exhausted.
    pub due: Option<Timestamp>,
    /// Error of the last attempt.
    pub error: String,
}

/// Retry policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Maximum number of attempts.
    pub limit: i64,
    /// Delay after the first failure; doubles with each further one.
    pub first: Duration,
}

impl Retries {
    /// Time of the next attempt after `attempts` failures; `None` if exhausted.
    pub fn next(&self, attempts: i64, now: Timestamp) -> Option<Timestamp> {
        let backoff = Backoff { first: self.first, max: MAX_RETRY_DELAY };
        let wait = backoff.after(u32::try_from(attempts).unwrap_or_default().max(1));
        (attempts < self.limit).then(|| now.checked_add(wait).unwrap_or(Timestamp::MAX))
    }
}

/// Maximum delay before a retry.
const MAX_RETRY_DELAY: Duration = Duration::from_hours(24);

/// Due time of jobs that are not retried.
const NEVER: i64 = i64::MAX;

/// Enqueues jobs, given as key and payload. An existing job of the same key is replaced and starts over.
pub fn enqueue<'a>(
    tx: &Tx<'_>,
    queue: &str,
    jobs: impl IntoIterator<Item = (&'a str, &'a str)>,
    now: Timestamp,
) -> Result<(), DbError> {
    let due = now.as_millisecond();
    let params =
        jobs.into_iter().map(|(key, payload)| [queue.into(), key.into(), payload.into(), due.into()]);
    tx.many(
        "INSERT INTO jobs (queue, key, payload, version, attempts, due, leased_until)
         VALUES ($1, $2, $3, 1, 0, $4, 0)
         ON CONFLICT (queue, key) DO UPDATE SET payload = excluded.payload, version = jobs.version + 1,
             attempts = 0, due = excluded.due, error = NULL",
        params,
    )?;
    Ok(())
}

/// Claims up to `max` due jobs for the duration of `lease`.
pub fn claim(
    tx: &Tx<'_>,
    queue: &str,
    now: Timestamp,
    lease: Duration,
    max: usize,
) -> Result<Vec<Job>, DbError> {
    let until = now.checked_add(lease).unwrap_or(Timestamp::MAX).as_millisecond();
    let skip_locked = tx.dialect().skip_locked();
    tx.rows(
        &format!(
            "WITH claimable AS MATERIALIZED
                 (SELECT key FROM jobs WHERE queue = $1 AND due <= $2 AND leased_until <= $2
                  ORDER BY due, key LIMIT $3 {skip_locked})
             UPDATE jobs SET attempts = attempts + 1, leased_until = $4
             WHERE queue = $1 AND key IN (SELECT key FROM claimable)
             RETURNING key, payload, version, attempts"
        ),
        [
            queue.into(),
            now.as_millisecond().into(),
            i64::try_from(max).unwrap_or(i64::MAX).into(),
            until.into(),
        ],
        |row| {
            Ok(Job {
                key: row.text(0)?,
                payload: row.text(1)?,
                version: row.integer(2)?,
                attempts: row.integer(3)?,
            })
        },
    )
}

/// Deletes a completed job. If it was enqueued again meanwhile, releases it instead. Does nothing if the claim is over
/// because another worker has claimed it.
pub fn complete(tx: &Tx<'_>, queue: &str, job: &Job) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM jobs WHERE queue = $1 AND key = $2 AND version = $3 AND attempts = $4",
        [queue.into(), (&job.key).into(), job.version.into(), job.attempts.into()],
    )?;
    release(tx, queue, job)
}

/// Records why a job failed and when to retry it, unless another worker has claimed it.
pub fn fail(
    tx: &Tx<'_>,
    queue: &str,
    job: &Job,
    error: &str,
    retry_at: Option<Timestamp>,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE jobs SET due = $1, error = $2, leased_until = 0
         WHERE queue = $3 AND key = $4 AND version = $5 AND attempts = $6",
        [
            retry_at.map_or(NEVER, Timestamp::as_millisecond).into(),
            error.into(),
            queue.into(),
            (&job.key).into(),
            job.version.into(),
            job.attempts.into(),
        ],
    )?;
    release(tx, queue, job)
}

/// Releases a job that was enqueued again while it was claimed, and is not claimed since.
fn release(tx: &Tx<'_>, queue: &str, job: &Job) -> Result<(), DbError> {
    tx.execute(
        "UPDATE jobs SET leased_until = 0 WHERE queue = $1 AND key = $2 AND version > $3 AND attempts = 0",
        [queue.into(), (&job.key).into(), job.version.into()],
    )?;
    Ok(())
}

/// Releases all leases of a queue. For the only worker, at start. A worker that still runs can't end the claims of
/// others: claims are told apart by version and attempt.
pub fn release_all(tx: &Tx<'_>, queue: &str) -> Result<(), DbError> {
    tx.execute("UPDATE jobs SET leased_until = 0 WHERE queue = $1 AND leased_until > 0", [queue.into()])?;
    Ok(())
}

/// Releases all leases and makes failed jobs due now, including exhausted ones.
pub fn retry_all(tx: &Tx<'_>, queue: &str, now: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE jobs SET due = $1, attempts = CASE WHEN due = $2 THEN 0 ELSE attempts END,
             version = CASE WHEN due = $2 THEN version + 1 ELSE version END
         WHERE queue = $3 AND due > $1",
        [now.as_millisecond().into(), NEVER.into(), queue.into()],
    )?;
    release_all(tx, queue)
}

/// Time when the next job can be claimed, if any.
pub fn next_due(tx: &Tx<'_>, queue: &str) -> Result<Option<Timestamp>, DbError> {
    let found = tx.row(
        "SELECT min(CASE WHEN leased_until > due THEN leased_until ELSE due END) FROM jobs
         WHERE queue = $1 AND due < $2",
        [queue.into(), NEVER.into()],
        |row| row.maybe_integer(0),
    )?;
    Ok(found.flatten().and_then(|due| Timestamp::from_millisecond(due).ok()))
}

/// Number of unfinished jobs in a queue.
pub fn count(tx: &Tx<'_>, queue: &str) -> Result<i64, DbError> {
    let found = tx.row("SELECT count(*) FROM jobs WHERE queue = $1", [queue.into()], |row| row.integer(0))?;
    Ok(found.unwrap_or_default())
}

/// Failed jobs of a queue, ordered by key, at most `max`.
pub fn failures(tx: &Tx<'_>, queue: &str, max: usize) -> Result<Vec<Failure>, DbError> {
    let read = |row: &Row<'_>| {
        let due = row.integer(2)?;
        Ok(Failure {
            key: row.text(0)?,
            attempts: row.integer(1)?,
            due: (due != NEVER).then(|| Timestamp::from_millisecond(due).unwrap_or(Timestamp::MAX)),
            error: row.text(3)?,
        })
    };
    tx.rows(
        "SELECT key, attempts, due, error FROM jobs WHERE queue = $1 AND error IS NOT NULL ORDER BY key LIMIT $2",
        [queue.into(), i64::try_from(max).unwrap_or(i64::MAX).into()],
        read,
    )
}
