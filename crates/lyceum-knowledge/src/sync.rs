//! A sync: what is there now is read, written down in one transaction, and shown.
//!
//! Files are read twice: once to learn what they are, and, where they are served, once more with the id that all of
//! them together gave them. So a sync holds some megabytes of documents at a time, however many there are.

mod choice;
mod publish;
mod reading;
mod staging;
mod summary;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use lyceum_model::ErrorCode;
use lyceum_source::{Kind, Snapshot};
use lyceum_store::{
    DbError,
    documents::{self, DocumentRow, FileRow, FileState, SourceRow},
};

use crate::{
    Knowledge, Report,
    failpoint::{self, Step},
    plan,
};
use staging::StagedDocument;

/// How many files are read and staged together.
const BATCH_FILES: usize = 64;

/// How many bytes of files that is at most, or one file.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;

/// How long it may take to fetch the source; Git has limits of its own, which are shorter.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// How far a sync is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Asking the source for news.
    Fetching,
    /// Reading what changed.
    Reading {
        /// How many files are read.
        done: usize,
        /// How many there are to read.
        of: usize,
    },
    /// Staging what is served.
    Staging {
        /// How many documents are staged.
        done: usize,
        /// How many there are to stage.
        of: usize,
    },
    /// Putting objects where they belong.
    Uploading {
        /// How many are left.
        left: i64,
    },
}

/// Whom to tell how far a sync is.
pub(crate) type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// Why a sync failed. What was served before is served on.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The source can't be read.
    #[error(transparent)]
    Source(#[from] lyceum_source::Error),
    /// It can't be written down.
    #[error(transparent)]
    Db(#[from] DbError),
    /// Another process brings this data folder up to date.
    #[error(
        "another process syncs this data folder; ask that server (tool refresh_sources, or POST /api/v1/sources/{{name}}/sync), or use another --data-dir"
    )]
    Elsewhere,
    /// The source took too long.
    #[error("reading the source took more than {} seconds; check its disk or server", limit.as_secs())]
    TooSlow {
        /// The limit.
        limit: Duration,
    },
    /// The lock can't be used.
    #[error("the data folder can't be locked: {}", .0.kind())]
    Lock(#[from] std::io::Error),
    /// A fault of ours.
    #[error("reading the files failed; see the log")]
    Panicked,
}

impl SyncError {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Source(error) => error.code(),
            Self::Db(error) => error.code(),
            Self::Elsewhere => ErrorCode::Unavailable,
            Self::TooSlow { .. } => ErrorCode::Timeout,
            Self::Lock(_) | Self::Panicked => ErrorCode::InternalError,
        }
    }
}

/// What is known before a sync.
struct StoredState {
    source: SourceRow,
    files: BTreeMap<String, FileRow>,
    documents: BTreeMap<String, DocumentRow>,
}

/// What a sync writes down.
struct Outcome {
    files: Vec<FileRow>,
    gone: Vec<String>,
    /// Documents that are served no more, or in another version; by their files.
    replaced: Vec<DocumentRow>,
    staged: Vec<StagedDocument>,
    /// Objects that were there before anything was known of them.
    left_behind: Vec<String>,
}

impl StoredState {
    /// Has everything read again.
    fn forget_content(&mut self) {
        for row in self.files.values_mut() {
            (row.stamp, row.digest) = (None, None);
        }
    }
}

impl Outcome {
    fn is_something(&self) -> bool {
        let Self { files, gone, replaced, staged, left_behind } = self;
        !(files.is_empty()
            && gone.is_empty()
            && replaced.is_empty()
            && staged.is_empty()
            && left_behind.is_empty())
    }
}

impl Knowledge {
    /// Brings the source in and shows it. One at a time; only the process that leads may.
    pub(crate) async fn sync(&self, on_progress: &OnProgress) -> Result<Report, SyncError> {
        if !self.lead()? {
            return Err(SyncError::Elsewhere);
        }
        let Ok(turn) = self.syncing.acquire().await else { return Err(SyncError::Elsewhere) };
        let synced = self.sync_in_turn(on_progress).await;
        drop(turn);
        // Bytes that were uploaded in the meantime wait for the end of the turn to be swept.
        self.upload_pending.notify_one();
        self.note(synced.as_ref().err().map(ToString::to_string));
        synced
    }

    /// Shows what is here by the rules of this process, without asking the network, where it is shown by others or not
    /// at all.
    pub(crate) async fn sync_what_is_here(&self, on_progress: &OnProgress) -> Result<(), SyncError> {
        let Ok(_turn) = self.syncing.acquire().await else { return Err(SyncError::Elsewhere) };
        let known = self.known().await?;
        if known.source.rules == self.options.rules {
            return Ok(());
        }
        let source = self.options.source.clone();
        let here = tokio::task::spawn_blocking(move || source.local()).await;
        let here = here.map_err(|_| SyncError::Panicked)??;
        // What was asked for is not answered by what was here before.
        let done = known.source.done;
        match here {
            Some(snapshot) => self.read_and_publish(snapshot, known, done, on_progress).await.map(drop),
            None => Ok(()),
        }
    }

    async fn sync_in_turn(&self, on_progress: &OnProgress) -> Result<Report, SyncError> {
        let name = self.options.name.to_string();
        // What is asked for from here on is asked for again.
        let wanted = self.db.read(move |tx| documents::source(tx, &name)).await?.wanted;
        on_progress(Progress::Fetching);
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.options.source.refresh()).await;
        let snapshot = fetched.map_err(|_| SyncError::TooSlow { limit: FETCH_TIMEOUT })??;
        let known = self.known().await?;
        self.read_and_publish(snapshot, known, wanted, on_progress).await
    }

    async fn read_and_publish(
        &self,
        mut snapshot: Snapshot,
        mut known: StoredState,
        wanted: i64,
        on_progress: &OnProgress,
    ) -> Result<Report, SyncError> {
        let (began, now) = (Instant::now(), Self::now());
        let same_rules = known.source.rules == self.options.rules;
        if !same_rules {
            known.forget_content();
        }
        let mut plan = plan::plan(&known.files, &snapshot, now);
        failpoint::reached(Step::Planned);

        let mut read = self.read_all(&snapshot, &plan, &known, now, on_progress).await?;
        let is_clone = self.options.source.kind() == Kind::Repository;
        if is_clone && read.iter().any(|row| row.state == FileState::Failed) {
            tracing::warn!(source.name = %self.options.name, "files in the clone can't be read; cloning again");
            snapshot = self.options.source.renew().await?;
            plan = plan::plan(&known.files, &snapshot, now);
            read = self.read_all(&snapshot, &plan, &known, now, on_progress).await?;
        }
        let version = snapshot.version();
        let mut files = known.files.clone();
        for path in &plan.gone {
            files.remove(path);
        }
        files.extend(read.iter().chain(&plan.left_out).map(|row| (row.path.clone(), row.clone())));
        let ids = choice::assign(&files);

        let (ahead, replaced) = choice::choose(&files, &known, &ids);
        let staged = self.stage_all(&snapshot, &ahead, &version, now, on_progress).await?;
        let read = read.into_iter().chain(plan.left_out).collect();
        let left_behind = match known.source.version {
            Some(_) => Vec::new(),
            None => self.left_behind().await,
        };
        let mut outcome = Outcome { files: read, gone: plan.gone, replaced, staged, left_behind };
        choice::postpone(&mut outcome, &mut files, &ids, &ahead, now);

        let report = self.report(&outcome, &files, &known, &ids, &version, now);
        let is_news = !same_rules
            || wanted != known.source.done
            || known.source.version.as_deref() != Some(version.as_str())
            || outcome.is_something();
        if is_news {
            self.publish(outcome, &files, &version, wanted, now).await?;
            failpoint::reached(Step::Published);
            // Before objects are replaced, so that nobody here looks for the old ones.
            self.update_catalog().await?;
            self.upload_pending.notify_one();
            self.events_written.notify_one();
        }
        let synced_at = self.snapshot().synced_at;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Report { synced_at, took_ms, ..report })
    }

    async fn known(&self) -> Result<StoredState, DbError> {
        let name = self.options.name.to_string();
        let read = self.db.read(move |tx| {
            let files = documents::files(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            let served = documents::documents(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            Ok(StoredState {
                source: documents::source(tx, &name)?,
                files: files.collect(),
                documents: served.collect(),
            })
        });
        read.await
    }
}
