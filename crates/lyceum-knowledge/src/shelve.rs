//! Shelving: objects that are written down are put where they belong, and taken from where they do not.
//!
//! Each is a job of its own: tried five times, after 30 seconds and then twice as long each time, within two minutes;
//! then it is kept as failed and reported, while the others go on. Doing one twice is no harm.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use lyceum_store::{
    DbError, Key, documents,
    jobs::{self, Job},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Knowledge, Progress,
    read::RETRIES,
    service::told,
    sync::Tell,
    trial::{self, Step},
};

/// The queue: a key of the object store, and the hash of what belongs there, or nothing.
pub(crate) const QUEUE: &str = "objects";

/// How many objects are done together.
const TOGETHER: usize = 256;

/// How long one may take.
const WITHIN: Duration = Duration::from_secs(120);

/// How long is waited before looking again, where nothing says when.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// What became of a job.
type Done = (Job, Result<(), String>);

impl Knowledge {
    /// Shelves what there is to shelve, until told to stop.
    pub(crate) async fn keep_shelving(&self, stop: &CancellationToken) {
        let quiet: Tell = std::sync::Arc::new(|_| ());
        while !stop.is_cancelled() {
            let wait = match self.shelve(&quiet).await {
                Ok(next) => next.map_or(LOOK_EVERY, until).min(LOOK_EVERY),
                Err(error) => {
                    tracing::warn!(error.cause = %error, "objects could not be put where they belong; trying again");
                    LOOK_EVERY
                }
            };
            tokio::select! {
                () = self.unshelved.notified() => {}
                () = tokio::time::sleep(wait.max(Duration::from_millis(50))) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Shelves everything that is due, and says when something is due again.
    pub(crate) async fn shelve(&self, tell: &Tell) -> Result<Option<Timestamp>, DbError> {
        loop {
            let claimed =
                self.db.write(|tx| jobs::claim(tx, QUEUE, Self::now(), WITHIN.saturating_mul(2), TOGETHER));
            let claimed = claimed.await?;
            if claimed.is_empty() {
                return self.db.read(|tx| jobs::next_due(tx, QUEUE)).await;
            }
            let done = self.shelve_batch(claimed).await?;
            trial::reached(Step::Shelved);
            let left = self.db.write(move |tx| {
                for (job, result) in done {
                    match result {
                        Ok(()) => jobs::done(tx, QUEUE, &job)?,
                        Err(error) => {
                            let again = RETRIES.next(job.attempts, Self::now());
                            jobs::failed(tx, QUEUE, &job, &error, again)?;
                        }
                    }
                    documents::release_body(tx, QUEUE, &job.payload)?;
                }
                jobs::count(tx, QUEUE)
            });
            tell(Progress::Shelving { left: left.await? });
        }
    }

    async fn shelve_batch(&self, claimed: Vec<Job>) -> Result<Vec<Done>, DbError> {
        let hashes: Vec<String> = claimed.iter().map(|job| job.payload.clone()).collect();
        let read = self.db.read(move |tx| {
            hashes
                .iter()
                .map(|hash| if hash.is_empty() { Ok(None) } else { documents::body(tx, hash) })
                .collect()
        });
        let bodies: Vec<Option<Vec<u8>>> = read.await?;
        // What is taken away goes first: a file that becomes a folder is one of each.
        let (mut done, mut puts) = (Vec::new(), Vec::new());
        let mut deletes = Vec::new();
        for (job, body) in claimed.into_iter().zip(bodies) {
            match (Key::parse(&job.key), body) {
                (Err(error), _) => done.push((job, Err(error.to_string()))),
                (Ok(key), None) if job.payload.is_empty() => deletes.push((job, key)),
                (Ok(_), None) => done.push((job, Err("its bytes are gone; sync again".to_owned()))),
                (Ok(key), Some(body)) => puts.push((job, key, body)),
            }
        }
        let delete = |(job, key): (Job, Key)| {
            let objects = self.options.objects.clone();
            async move { (job, objects.delete(&key).await.map_err(|error| told(&error))) }
        };
        let deletes: Vec<_> = deletes.into_iter().map(delete).collect();
        done.extend(stream::iter(deletes).buffered(16).collect::<Vec<Done>>().await);
        let (jobs, items): (Vec<Job>, Vec<(Key, Bytes)>) =
            puts.into_iter().map(|(job, key, body)| (job, (key, Bytes::from(body)))).unzip();
        let put = self.options.objects.put_all(items).await;
        let put = jobs.into_iter().zip(put);
        done.extend(put.map(|(job, (_, result))| (job, result.map_err(|error| told(&error)))));
        for (job, error) in done.iter().filter_map(|(job, result)| Some((job, result.as_ref().err()?))) {
            tracing::warn!(
                object.key = job.key,
                attempt = job.attempts,
                error.cause = error,
                "an object could not be put where it belongs"
            );
        }
        Ok(done)
    }
}

fn until(moment: Timestamp) -> Duration {
    Duration::try_from(moment.duration_since(Knowledge::now())).unwrap_or_default()
}
