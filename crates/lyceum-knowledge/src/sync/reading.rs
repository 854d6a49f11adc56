//! The first look: every file that the plan names, some at a time on every processor.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use lyceum_model::RelPath;
use lyceum_source::Snapshot;
use lyceum_store::documents::FileRow;

use super::{BATCH_BYTES, BATCH_FILES, OnProgress, Progress, StoredState, SyncError};
use crate::{
    Knowledge,
    failpoint::{self, Step},
    plan::Plan,
    read::Reader,
};

/// How long one batch of files may take: longer is a disk that is gone.
const BATCH_TIMEOUT: Duration = Duration::from_secs(120);

impl Knowledge {
    /// Reads the files that the plan names, some at a time on every processor.
    pub(super) async fn read_all(
        &self,
        snapshot: &Snapshot,
        plan: &Plan,
        known: &StoredState,
        now: Timestamp,
        on_progress: &OnProgress,
    ) -> Result<Vec<FileRow>, SyncError> {
        let of = plan.read.len();
        // Collected first: a stream that borrows from here could not be sent to another thread.
        let size = |path: &RelPath| snapshot.files().get(path).map_or(0, |file| file.size);
        let batches: Vec<_> = batches(&plan.read, size)
            .map(|paths| {
                let before = |path: &RelPath| known.files.get(path.as_str()).cloned();
                let paths: Vec<_> = paths.iter().map(|path| (path.clone(), before(path))).collect();
                let (snapshot, ontology) = (snapshot.clone(), self.options.ontology.clone());
                let exclude = self.options.exclude.clone();
                aside(move || {
                    let reader = Reader { snapshot: &snapshot, ontology: &ontology, exclude: &exclude, now };
                    paths.iter().map(|(path, before)| reader.read(path, before.as_ref())).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut rows = Vec::with_capacity(of);
        let mut read = stream::iter(batches).buffered(processors());
        while let Some(batch) = read.try_next().await? {
            rows.extend(batch);
            on_progress(Progress::Reading { done: rows.len(), of });
            failpoint::reached(Step::Read);
        }
        Ok(rows)
    }
}

/// Cuts a list into parts of so many files and bytes.
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

/// Does work that blocks where it holds up nobody, within a limit.
pub(super) async fn aside<T: Send + 'static>(
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

pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8)
}
