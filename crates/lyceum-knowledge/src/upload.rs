//! Uploads staged objects to the object store, and deletes removed ones.
//!
//! Each object is a job: five attempts, after 30 seconds and then doubling, each with a timeout of two minutes. Then it
//! is reported as failed, until the next start or `lyceum sync`; other jobs continue. Transient errors, such as a full
//! disk, are retried without limit. Jobs are idempotent.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use lyceum_net::Backoff;
use lyceum_store::{
    DbError, Key, ObjectError, ObjectOptions, Tx, documents,
    jobs::{self, Job},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    Knowledge, Progress,
    failpoint::{self, Step},
    read::RETRIES,
    sync::OnProgress,
};

/// Maximum number of jobs per batch.
const BATCH_JOBS: usize = 256;

/// Maximum bytes held in memory at once, unless a single object is larger.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Maximum number of concurrent deletes.
const MAX_CONCURRENT_DELETES: usize = 16;

/// Timeout of one object.
const OBJECT_TIMEOUT: Duration = Duration::from_secs(120);

/// How often to poll the queue without a signal.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

/// Back-off for transient errors.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(5), max: Duration::from_secs(300) };

/// Maximum number of objects listed to find orphans.
const MAX_SCANNED_OBJECTS: usize = 1_000_000;

/// A job with its result.
type JobOutcome = (Job, Result<(), UploadFailure>);

/// Why a job failed.
struct UploadFailure {
    why: String,
    /// Whether a retry may succeed.
    is_transient: bool,
}

impl Knowledge {
    /// Processes the upload queue, until stopped.
    pub(crate) async fn keep_uploading(&self, stop: &CancellationToken) {
        let quiet: OnProgress = std::sync::Arc::new(|_| ());
        let (about, queue) = (self.options.about(), self.options.queue());
        let revive = {
            let queue = queue.clone();
            move |tx: &Tx<'_>| jobs::retry_all(tx, &queue, tx.now()?)
        };
        // Claims of the previous leader are stale, and failed jobs may work now.
        let mut revived = self.db.write(&about, revive).await;
        while !stop.is_cancelled() {
            let uploaded = match revived {
                Ok(()) => self.upload(&quiet).await,
                Err(error) => Err(error),
            };
            // Stale claims of a failed round would block the next.
            revived = match &uploaded {
                Ok(_) => Ok(()),
                Err(_) => {
                    let queue = queue.clone();
                    self.db.write(&about, move |tx| jobs::release_all(tx, &queue)).await
                }
            };
            let wait = match uploaded {
                Ok(next) => next.map_or(POLL_INTERVAL, time_until).min(POLL_INTERVAL),
                Err(error) => {
                    tracing::warn!(error.cause = %error, "uploading objects failed; retrying");
                    BACKOFF.first
                }
            };
            // Index the first documents before uploads keep the disk busy.
            let woken = async {
                self.upload_pending.notified().await;
                self.wait_until_indexed().await;
            };
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(wait.max(Duration::from_millis(50))) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Processes all due jobs; returns when the next one is due.
    pub(crate) async fn upload(&self, on_progress: &OnProgress) -> Result<Option<Timestamp>, DbError> {
        let about = self.options.about();
        loop {
            let queue = self.options.queue();
            let claimed = self.db.write(&about, move |tx| {
                jobs::claim(tx, &queue, tx.now()?, OBJECT_TIMEOUT.saturating_mul(2), BATCH_JOBS)
            });
            let claimed = claimed.await?;
            let queue = self.options.queue();
            if claimed.is_empty() {
                self.sweep_bodies().await?;
                return self.db.read(move |tx| jobs::next_due(tx, &queue)).await;
            }
            let span = tracing::error_span!("upload", objects = claimed.len());
            let done = self.upload_batch(claimed).instrument(span).await?;
            failpoint::reached(Step::Uploaded);
            let left = self.db.write(&about, move |tx| {
                for (job, result) in &done {
                    match result {
                        Ok(()) => jobs::complete(tx, &queue, job)?,
                        Err(failed) => {
                            let retry_at = failed.retry_at(job.attempts, tx.now()?);
                            jobs::fail(tx, &queue, job, &failed.why, retry_at)?;
                        }
                    }
                }
                jobs::count(tx, &queue)
            });
            on_progress(Progress::Uploading { left: left.await? });
        }
    }

    /// Deletes staged bytes of finished uploads.
    async fn sweep_bodies(&self) -> Result<(), DbError> {
        let (source, queue) = (self.options.key(), self.options.queue());
        let sweep = move |tx: &Tx<'_>| documents::sweep_bodies(tx, &source, &queue);
        self.db.write(self.options.about(), sweep).await.map(drop)
    }

    /// Processes claimed jobs, as many at a time as fit into memory.
    async fn upload_batch(&self, claimed: Vec<Job>) -> Result<Vec<JobOutcome>, DbError> {
        let mut done = Vec::with_capacity(claimed.len());
        let mut left = claimed;
        while !left.is_empty() {
            // On the writer thread, although it only reads: one thread reuses its memory, while thirty reader threads
            // would each allocate their own.
            let source = self.options.key();
            let hashes: Vec<String> = left.iter().map(|job| job.payload.clone()).collect();
            let read = self.db.write(self.options.about(), move |tx| {
                let (mut bodies, mut bytes) = (Vec::new(), 0);
                for hash in &hashes {
                    let body = if hash.is_empty() { None } else { documents::body(tx, &source, hash)? };
                    bytes += body.as_ref().map_or(0, Vec::len);
                    bodies.push(body);
                    if bytes > BATCH_BYTES {
                        break;
                    }
                }
                Ok(bodies)
            });
            let bodies = read.await?;
            let group = left.drain(..bodies.len()).zip(bodies).collect();
            done.extend(self.upload_group(group).await);
        }
        for (job, failed) in done.iter().filter_map(|(job, result)| Some((job, result.as_ref().err()?))) {
            tracing::warn!(
                object.key = job.key,
                attempt = job.attempts,
                error.cause = failed.why,
                "could not upload an object"
            );
        }
        Ok(done)
    }

    async fn upload_group(&self, group: Vec<(Job, Option<Vec<u8>>)>) -> Vec<JobOutcome> {
        let limit = ObjectOptions { timeout: OBJECT_TIMEOUT, ..ObjectOptions::default() };
        let objects = self.options.objects.clone().with_options(limit);
        let (mut done, mut deletes, mut puts) = (Vec::new(), Vec::new(), Vec::new());
        for (job, body) in group {
            match (Key::parse(&job.key), body) {
                (Err(error), _) => done.push((job, Err(UploadFailure::permanent(error.to_string())))),
                (Ok(key), None) if job.payload.is_empty() => deletes.push((job, key)),
                (Ok(_), None) => {
                    done.push((
                        job,
                        Err(UploadFailure::permanent("its staged bytes are missing; sync again".to_owned())),
                    ));
                }
                (Ok(key), Some(body)) => puts.push((job, (key, Bytes::from(body)))),
            }
        }
        let delete = |(job, key): (Job, Key)| {
            let objects = objects.clone();
            async move { (job, outcome(&key, objects.delete(&key).await)) }
        };
        let deletes: Vec<_> = deletes.into_iter().map(delete).collect();
        done.extend(
            stream::iter(deletes).buffered(MAX_CONCURRENT_DELETES).collect::<Vec<JobOutcome>>().await,
        );
        let (jobs, items): (Vec<Job>, Vec<(Key, Bytes)>) = puts.into_iter().unzip();
        let put = objects.put_all(items).await;
        done.extend(jobs.into_iter().zip(put).map(|(job, (key, result))| (job, outcome(&key, result))));
        done
    }

    /// Keys of objects that an earlier, lost database published. Without a manifest of ours, the objects belong to
    /// somebody else.
    pub(crate) async fn orphans(&self) -> Vec<String> {
        let objects = &self.options.objects;
        let found = async {
            let manifest = objects.get(&Key::manifest()).await?;
            if !manifest.is_some_and(|bytes| is_manifest(&bytes)) {
                return Ok(Vec::new());
            }
            let mut keys = objects.list("content", MAX_SCANNED_OBJECTS).await?;
            keys.extend(objects.list("raw", MAX_SCANNED_OBJECTS).await?);
            Ok(keys)
        };
        match found.await {
            Ok(keys) => keys.iter().map(|key| key.as_str().to_owned()).collect(),
            Err(error) => {
                let error: ObjectError = error;
                tracing::warn!(
                    error.cause = public_message(&error),
                    "could not list objects of an earlier database"
                );
                Vec::new()
            }
        }
    }
}

impl UploadFailure {
    fn of(error: &ObjectError) -> Self {
        Self { why: public_message(error), is_transient: error.is_transient() }
    }

    fn permanent(why: String) -> Self {
        Self { why, is_transient: false }
    }

    /// When to retry after that many attempts; `None` to give up.
    fn retry_at(&self, attempts: i64, now: Timestamp) -> Option<Timestamp> {
        if !self.is_transient {
            return RETRIES.next(attempts, now);
        }
        let wait = BACKOFF.after(u32::try_from(attempts).unwrap_or_default().max(1));
        Some(now.checked_add(wait).unwrap_or(Timestamp::MAX))
    }
}

/// Whether these bytes are a manifest written by a sync.
fn is_manifest(bytes: &[u8]) -> bool {
    let parsed = serde_json::from_slice::<serde_json::Value>(bytes);
    parsed.is_ok_and(|manifest| manifest.get("commitSha").is_some() && manifest.get("documents").is_some())
}

/// Converts the result of an object operation.
fn outcome(key: &Key, result: Result<(), ObjectError>) -> Result<(), UploadFailure> {
    match result {
        // Only raw copies of files have such long names; the document itself is stored.
        Err(ObjectError::NameTooLong(_)) => {
            tracing::warn!(
                object.key = key.as_str(),
                "a path is too long for this disk; the raw copy of the file is not stored"
            );
            Ok(())
        }
        result => result.map_err(|error| UploadFailure::of(&error)),
    }
}

/// The error with its causes, for log and report.
fn public_message(error: &ObjectError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn time_until(moment: Timestamp) -> Duration {
    Duration::try_from(moment.duration_since(Knowledge::now())).unwrap_or_default()
}
