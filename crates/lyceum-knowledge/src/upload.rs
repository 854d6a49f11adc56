//! Uploading: objects that are written down are put where they belong, and taken from where they do not.
//!
//! Each is a job of its own: tried five times, after 30 seconds and then twice as long each time, within two minutes;
//! then it is kept as failed and reported, while the others go on, until the next start or `lyceum sync`. Where it is not
//! the object's fault, as with a full disk, it is tried for as long as it takes. Doing one twice is no harm.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use lyceum_net::Backoff;
use lyceum_store::{
    DbError, Key, ObjectError, ObjectOptions, documents,
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

/// The queue: a key of the object store, and the hash of what belongs there, or nothing.
pub(crate) const QUEUE: &str = "objects";

/// How many objects are done together.
const BATCH_JOBS: usize = 256;

/// How many bytes of them are held in memory at once, or one object.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// How many are taken away at the same time.
const MAX_CONCURRENT_DELETES: usize = 16;

/// How long one may take.
const OBJECT_TIMEOUT: Duration = Duration::from_secs(120);

/// How long is waited before looking again, where nothing says when.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

/// How long is waited where it is not the object's fault.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(5), max: Duration::from_secs(300) };

/// The most objects that are looked through for those that nobody knows of.
const MAX_SCANNED_OBJECTS: usize = 1_000_000;

/// What became of a job.
type JobOutcome = (Job, Result<(), UploadFailure>);

/// Why a job failed.
struct UploadFailure {
    why: String,
    /// Whether the same may work later.
    is_transient: bool,
}

impl Knowledge {
    /// Uploads what there is to upload, until told to stop.
    pub(crate) async fn keep_uploading(&self, stop: &CancellationToken) {
        let quiet: OnProgress = std::sync::Arc::new(|_| ());
        // Whoever claimed before is gone, and what was given up may work now.
        let mut revived = self.db.write(|tx| jobs::revive(tx, QUEUE, Self::now())).await;
        while !stop.is_cancelled() {
            let uploaded = match revived {
                Ok(()) => self.upload(&quiet).await,
                Err(error) => Err(error),
            };
            // The claims of a round that failed would hold up the next.
            revived = match &uploaded {
                Ok(_) => Ok(()),
                Err(_) => self.db.write(|tx| jobs::release_all(tx, QUEUE)).await,
            };
            let wait = match uploaded {
                Ok(next) => next.map_or(POLL_INTERVAL, until).min(POLL_INTERVAL),
                Err(error) => {
                    tracing::warn!(error.cause = %error, "uploading objects failed; retrying");
                    BACKOFF.first
                }
            };
            // The first documents are found before the disk is busy with putting them where they belong.
            let woken = async {
                self.upload_pending.notified().await;
                self.until_searched().await;
            };
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(wait.max(Duration::from_millis(50))) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Uploads everything that is due, and says when something is due again.
    pub(crate) async fn upload(&self, on_progress: &OnProgress) -> Result<Option<Timestamp>, DbError> {
        loop {
            let claimed = self.db.write(|tx| {
                jobs::claim(tx, QUEUE, Self::now(), OBJECT_TIMEOUT.saturating_mul(2), BATCH_JOBS)
            });
            let claimed = claimed.await?;
            if claimed.is_empty() {
                self.sweep_bodies().await?;
                return self.db.read(|tx| jobs::next_due(tx, QUEUE)).await;
            }
            let span = tracing::error_span!("upload", objects = claimed.len());
            let done = self.upload_batch(claimed).instrument(span).await?;
            failpoint::reached(Step::Uploaded);
            let left = self.db.write(move |tx| {
                for (job, result) in done {
                    match result {
                        Ok(()) => jobs::done(tx, QUEUE, &job)?,
                        Err(failed) => {
                            let again = failed.again(job.attempts, Self::now());
                            jobs::failed(tx, QUEUE, &job, &failed.why, again)?;
                        }
                    }
                }
                jobs::count(tx, QUEUE)
            });
            on_progress(Progress::Uploading { left: left.await? });
        }
    }

    /// Takes bytes away that are where they belong. A sync that is under way stages some that are not asked for yet, so
    /// it has to wait; the next time will do.
    async fn sweep_bodies(&self) -> Result<(), DbError> {
        let Ok(_turn) = self.syncing.try_acquire() else { return Ok(()) };
        self.db.write(|tx| documents::sweep_bodies(tx, QUEUE)).await.map(drop)
    }

    /// Does claimed jobs, as many at a time as fit into memory.
    async fn upload_batch(&self, claimed: Vec<Job>) -> Result<Vec<JobOutcome>, DbError> {
        let mut done = Vec::with_capacity(claimed.len());
        let mut left = claimed;
        while !left.is_empty() {
            // By the writer, although nothing is written: what one thread takes from memory again and again is taken from
            // the same place, and what each of thirty threads takes in turn is not.
            let read = self.db.write(move |tx| {
                let (mut group, mut bytes) = (Vec::new(), 0);
                let mut jobs = left.into_iter();
                for job in jobs.by_ref() {
                    let body = if job.payload.is_empty() { None } else { documents::body(tx, &job.payload)? };
                    bytes += body.as_ref().map_or(0, Vec::len);
                    group.push((job, body));
                    if bytes > BATCH_BYTES {
                        break;
                    }
                }
                Ok((group, jobs.collect::<Vec<Job>>()))
            });
            let (group, rest) = read.await?;
            done.extend(self.upload_group(group).await);
            left = rest;
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
        let limit = ObjectOptions { limit: OBJECT_TIMEOUT, ..ObjectOptions::default() };
        let objects = self.options.objects.clone().with_options(limit);
        let (mut done, mut deletes, mut puts) = (Vec::new(), Vec::new(), Vec::new());
        for (job, body) in group {
            match (Key::parse(&job.key), body) {
                (Err(error), _) => done.push((job, Err(UploadFailure::for_good(error.to_string())))),
                (Ok(key), None) if job.payload.is_empty() => deletes.push((job, key)),
                (Ok(_), None) => {
                    done.push((
                        job,
                        Err(UploadFailure::for_good("its bytes are gone; sync again".to_owned())),
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

    /// The keys of objects that are there before anything is known of them: those that a database knew which is lost.
    /// Where there is no manifest of ours, they are somebody else's.
    pub(crate) async fn left_behind(&self) -> Vec<String> {
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

    fn for_good(why: String) -> Self {
        Self { why, is_transient: false }
    }

    /// When to try again after so many tries, if ever.
    fn again(&self, attempts: i64, now: Timestamp) -> Option<Timestamp> {
        if !self.is_transient {
            return RETRIES.next(attempts, now);
        }
        let wait = BACKOFF.after(u32::try_from(attempts).unwrap_or_default().max(1));
        Some(now.checked_add(wait).unwrap_or(Timestamp::MAX))
    }
}

/// Whether these bytes are a manifest as a sync writes it.
fn is_manifest(bytes: &[u8]) -> bool {
    let parsed = serde_json::from_slice::<serde_json::Value>(bytes);
    parsed.is_ok_and(|manifest| manifest.get("commitSha").is_some() && manifest.get("documents").is_some())
}

/// How an object fared.
fn outcome(key: &Key, result: Result<(), ObjectError>) -> Result<(), UploadFailure> {
    match result {
        // Only copies of files have such names; the document itself is kept.
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

/// What went wrong with an object, for the log and the report.
fn public_message(error: &ObjectError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn until(moment: Timestamp) -> Duration {
    Duration::try_from(moment.duration_since(Knowledge::now())).unwrap_or_default()
}
