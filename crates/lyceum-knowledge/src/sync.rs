//! Sync: fetch, plan, read, stage, and publish in one transaction.
//!
//! Files are read twice: once to parse them, and published ones again to stage them with their id, which depends on all
//! files. So a sync holds only a few megabytes in memory, however many documents there are.

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

use jiff::Timestamp;
use lyceum_content::document::Publishing;
use lyceum_model::ErrorCode;
use lyceum_source::{Kind, Snapshot};
use lyceum_store::{
    DbError,
    documents::{self, DocumentRow, FileRow, FileState, SourceRow},
    leases::Lease,
};

use crate::{
    Knowledge, Report,
    failpoint::{self, Step},
    plan::{self, Plan},
    publishing,
    read::ReadFile,
};
use staging::Staging;

/// Maximum number of files per batch.
const BATCH_FILES: usize = 64;

/// Maximum number of bytes per batch, unless a single file is larger.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;

/// Timeout of fetching the source; Git's own timeouts are shorter.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// Progress of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Fetching the source.
    Fetching,
    /// Reading changed files.
    Reading {
        /// Files read.
        done: usize,
        /// Files to read.
        of: usize,
    },
    /// Staging documents.
    Staging {
        /// Documents staged.
        done: usize,
        /// Documents to stage.
        of: usize,
    },
    /// Uploading objects.
    Uploading {
        /// Objects left.
        left: i64,
    },
}

/// Progress callback.
pub(crate) type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// Why a sync failed. The last published commit stays served.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The source can't be read.
    #[error(transparent)]
    Source(#[from] lyceum_source::Error),
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
    /// Another process is the leader of this data folder.
    #[error(
        "another process syncs this data folder; ask that server (tool refresh_sources, or POST /api/v1/sources/{{name}}/sync), or use another --data-dir"
    )]
    NotLeader,
    /// Reading the source timed out.
    #[error("reading the source took more than {} seconds; check its disk or server", limit.as_secs())]
    TooSlow {
        /// The timeout.
        limit: Duration,
    },
    /// The lock file is unusable.
    #[error("the data folder can't be locked: {}", .0.kind())]
    Lock(#[from] std::io::Error),
    /// A bug in this program.
    #[error("reading the files failed; see the log")]
    Panicked,
}

impl SyncError {
    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Source(error) => error.code(),
            Self::Db(error) => error.code(),
            Self::NotLeader => ErrorCode::Unavailable,
            Self::TooSlow { .. } => ErrorCode::Timeout,
            Self::Lock(_) | Self::Panicked => ErrorCode::InternalError,
        }
    }
}

/// Stored state before a sync.
struct StoredState {
    source: SourceRow,
    publishing: Option<Publishing>,
    files: BTreeMap<String, FileRow>,
    documents: BTreeMap<String, DocumentRow>,
}

/// The files that changed, and all rows with theirs.
struct ReadPass {
    plan: Plan,
    read: Vec<ReadFile>,
    files: BTreeMap<String, FileRow>,
}

/// What a sync publishes.
struct Outcome {
    files: Vec<FileRow>,
    gone: Vec<String>,
    /// Previous rows of documents that are removed or replaced.
    replaced: Vec<DocumentRow>,
    staging: Staging,
    /// Objects of an earlier, lost database.
    orphans: Vec<String>,
    /// Proves that no other process has taken over since the sync began.
    lease: Lease,
}

impl StoredState {
    /// Forces all files to be read again.
    fn forget_content(&mut self) {
        for row in self.files.values_mut() {
            (row.stamp, row.digest) = (None, None);
        }
    }
}

impl Outcome {
    fn has_changes(&self) -> bool {
        let Self { files, gone, replaced, staging, orphans, lease: _ } = self;
        !(files.is_empty()
            && gone.is_empty()
            && replaced.is_empty()
            && staging.documents.is_empty()
            && orphans.is_empty())
    }
}

impl Knowledge {
    /// Syncs the source. One at a time; only the leader may.
    pub(crate) async fn sync(&self, on_progress: &OnProgress) -> Result<Report, SyncError> {
        let synced = self.sync_as_leader(on_progress).await;
        self.first_sync.send_replace(true);
        synced
    }

    async fn sync_as_leader(&self, on_progress: &OnProgress) -> Result<Report, SyncError> {
        let lease = self.lead().await?.ok_or(SyncError::NotLeader)?;
        let Ok(permit) = self.syncing.acquire().await else { return Err(SyncError::NotLeader) };
        let synced = self.sync_locked(on_progress, lease).await;
        if let Err(SyncError::Db(DbError::LeaseLost)) = synced {
            self.forget_lease();
        }
        drop(permit);
        // Staged bytes of finished uploads can be deleted only after the sync.
        self.upload_pending.notify_one();
        self.set_error(synced.as_ref().err().map(ToString::to_string));
        synced
    }

    /// Publishes the local snapshot with this process's rules, without network access. Does nothing if it is published
    /// with these rules already.
    pub(crate) async fn sync_local(&self, on_progress: &OnProgress) -> Result<Option<Report>, SyncError> {
        let Ok(_permit) = self.syncing.acquire().await else { return Err(SyncError::NotLeader) };
        let lease = self.lead().await?.ok_or(SyncError::NotLeader)?;
        let known = self.stored_state().await?;
        if known.source.rules == self.options.rules {
            return Ok(None);
        }
        let source = self.options.source.clone();
        let local = tokio::task::spawn_blocking(move || source.local()).await;
        let local = local.map_err(|_| SyncError::Panicked)??;
        // A local snapshot does not fulfil sync requests.
        let done = known.source.done;
        match local {
            Some(snapshot) => {
                self.read_and_publish(snapshot, known, done, on_progress, lease).await.map(Some)
            }
            None => Ok(None),
        }
    }

    async fn sync_locked(&self, on_progress: &OnProgress, lease: Lease) -> Result<Report, SyncError> {
        let name = self.options.key();
        // Requests from here on need another sync.
        let wanted = self.db.read(move |tx| documents::source(tx, &name)).await?.wanted;
        on_progress(Progress::Fetching);
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.options.source.refresh()).await;
        let snapshot = fetched.map_err(|_| SyncError::TooSlow { limit: FETCH_TIMEOUT })??;
        let known = self.stored_state().await?;
        self.read_and_publish(snapshot, known, wanted, on_progress, lease).await
    }

    async fn read_and_publish(
        &self,
        mut snapshot: Snapshot,
        mut known: StoredState,
        wanted: i64,
        on_progress: &OnProgress,
        lease: Lease,
    ) -> Result<Report, SyncError> {
        let (began, now) = (Instant::now(), Self::now());
        let mut same_rules = known.source.rules == self.options.rules;
        if !same_rules {
            known.forget_content();
        }
        let stored = known.publishing;
        let mut publishing = self.options.publish.or(stored).unwrap_or(Publishing::All);
        let mut pass = self.read_changes(&mut snapshot, &known, publishing, now, on_progress).await?;
        if self.options.publish.is_none() {
            let recognised = publishing::recognise(publishing, &pass.read);
            if recognised != publishing {
                publishing = recognised;
                known.forget_content();
                pass = self.read_changes(&mut snapshot, &known, publishing, now, on_progress).await?;
            }
        }
        if let Some(before) = stored.filter(|before| *before != publishing) {
            self.log_publishing(before, publishing);
        }
        same_rules &= stored == Some(publishing);
        let ReadPass { plan, read, mut files } = pass;
        let read: Vec<FileRow> = read.into_iter().map(|file| file.row).collect();
        let version = snapshot.version();
        let ids = choice::assign(&self.options.ontology, &files);

        let (pending, replaced) = choice::choose(&files, &known, &ids, &version);
        let staging = self.stage_all(&snapshot, &pending, &version, publishing, now, on_progress).await?;
        let read = read.into_iter().chain(plan.excluded).collect();
        let orphans = match known.source.version {
            Some(_) => Vec::new(),
            None => self.orphans().await,
        };
        let mut outcome = Outcome { files: read, gone: plan.gone, replaced, staging, orphans, lease };
        choice::postpone(&mut outcome, &mut files, &ids, &pending, now);

        let report = self.report(&outcome, &files, &known, &ids, &version, now);
        let must_publish = !same_rules
            || wanted != known.source.done
            || known.source.version.as_deref() != Some(version.as_str())
            || outcome.has_changes();
        if must_publish {
            self.publish(outcome, &files, &version, publishing, wanted, now).await?;
            failpoint::reached(Step::Published);
            // Before objects are replaced, so that no reader looks for the old ones.
            self.update_catalog().await?;
            self.upload_pending.notify_one();
            self.events_written.notify_one();
        }
        let synced_at = self.snapshot().synced_at;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let other_files = plan::other_files(&snapshot, &self.options.exclude);
        Ok(Report { synced_at, took_ms, other_files, ..report })
    }

    /// Plans and reads what changed. A clone with unreadable files is cloned again.
    async fn read_changes(
        &self,
        snapshot: &mut Snapshot,
        known: &StoredState,
        publishing: Publishing,
        now: Timestamp,
        on_progress: &OnProgress,
    ) -> Result<ReadPass, SyncError> {
        let mut plan = plan::plan(&known.files, snapshot, now);
        failpoint::reached(Step::Planned);
        let mut read = self.read_all(snapshot, &plan, known, publishing, now, on_progress).await?;
        let is_clone = self.options.source.kind() == Kind::Repository;
        if is_clone && read.iter().any(|file| file.row.state == FileState::Failed) {
            tracing::warn!(source.name = %self.options.name, "files in the clone can't be read; cloning again");
            *snapshot = self.options.source.renew().await?;
            plan = plan::plan(&known.files, snapshot, now);
            read = self.read_all(snapshot, &plan, known, publishing, now, on_progress).await?;
        }
        let mut files = known.files.clone();
        for path in &plan.gone {
            files.remove(path);
        }
        let rows = read.iter().map(|file| &file.row).chain(&plan.excluded);
        files.extend(rows.map(|row| (row.path.clone(), row.clone())));
        Ok(ReadPass { plan, read, files })
    }

    fn log_publishing(&self, before: Publishing, now: Publishing) {
        let (before, now) = (before.as_str(), now.as_str());
        tracing::warn!(
            source.name = %self.options.name,
            "publishing changed from {before:?} to {now:?}; set publish in [knowledge] to choose it yourself"
        );
    }

    async fn stored_state(&self) -> Result<StoredState, DbError> {
        let name = self.options.key();
        let read = self.db.read(move |tx| {
            let files = documents::files(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            let served = documents::documents(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            Ok(StoredState {
                source: documents::source(tx, &name)?,
                publishing: publishing::load(tx, &name)?,
                files: files.collect(),
                documents: served.collect(),
            })
        });
        read.await
    }
}
