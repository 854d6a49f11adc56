//! First pass: reads and parses the planned files in parallel.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use lyceum_content::document::Publishing;
use lyceum_model::RelPath;
use lyceum_source::Snapshot;

use super::{BATCH_BYTES, BATCH_FILES, OnProgress, Progress, StoredState, SyncError};
use crate::{
    Knowledge,
    failpoint::{self, Step},
    plan::Plan,
    read::{ReadFile, Reader},
};

/// Timeout of one batch; a longer wait means that the disk hangs.
const BATCH_TIMEOUT: Duration = Duration::from_secs(120);

impl Knowledge {
    /// Reads and parses the planned files in parallel.
    pub(super) async fn read_all(
        &self,
        snapshot: &Snapshot,
        plan: &Plan,
        known: &StoredState,
        publishing: Publishing,
        now: Timestamp,
        on_progress: &OnProgress,
    ) -> Result<Vec<ReadFile>, SyncError> {
        let of = plan.read.len();
        // Collected first: a stream that borrows locals would not be `Send`.
        let size = |path: &RelPath| snapshot.files().get(path).map_or(0, |file| file.size);
        let batches: Vec<_> = batches(&plan.read, size)
            .map(|paths| {
                let before = |path: &RelPath| known.files.get(path.as_str()).cloned();
                let paths: Vec<_> = paths.iter().map(|path| (path.clone(), before(path))).collect();
                let (snapshot, ontology) = (snapshot.clone(), self.options.ontology.clone());
                let exclude = self.options.exclude.clone();
                run_blocking(move || {
                    let reader = Reader {
                        snapshot: &snapshot,
                        ontology: &ontology,
                        publishing,
                        exclude: &exclude,
                        now,
                    };
                    paths.iter().map(|(path, before)| reader.read(path, before.as_ref())).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut rows = Vec::with_capacity(of);
        let mut read = stream::iter(batches).buffered(batches_in_flight());
        while let Some(batch) = read.try_next().await? {
            rows.extend(batch);
            on_progress(Progress::Reading { done: rows.len(), of });
            failpoint::reached(Step::Read);
        }
        Ok(rows)
    }
}

/// Splits a list into batches of at most [`BATCH_FILES`] files and about [`BATCH_BYTES`] bytes.
pub(super) fn batches<T>(files: &[T], size: impl Fn(&T) -> u64) -> impl Iterator<Item = &[T]> {
    let mut left = files;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let within = left.iter().take(BATCH_FILES).take_while(|file| {
            let fits = bytes < BATCH_BYTES;
            bytes += size(file);
            fits
        });
        let (batch, rest) = left.split_at(within.count());
        left = rest;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Runs blocking work on the blocking thread pool, with a timeout.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SyncError> {
    match tokio::time::timeout(BATCH_TIMEOUT, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panicked)) => {
            tracing::error!(error.cause = %panicked, "reading files failed");
            Err(SyncError::Panicked)
        }
        Err(_) => Err(SyncError::TooSlow { limit: BATCH_TIMEOUT }),
    }
}

/// How many batches are read at once: more than there are processors, so that none waits for the slowest batch, the disk or
/// the database.
pub(super) fn batches_in_flight() -> usize {
    2 * std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8)
}
