//! A sync: what is there now is read, written down in one transaction, and shown.
//!
//! Files are read twice: once to learn what they are, and, where they are served, once more with the id that all of
//! them together gave them. So a sync holds a handful of documents at a time, however many there are.

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
use lyceum_store::{
    DbError,
    documents::{self, DocumentRow, FileRow, SourceRow},
};

use crate::{
    Knowledge, Report, plan,
    trial::{self, Step},
};
use staging::Staged;

/// How many files are read and staged together.
const TOGETHER: usize = 64;

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
    Shelving {
        /// How many are left.
        left: i64,
    },
}

/// Whom to tell how far a sync is.
pub(crate) type Tell = Arc<dyn Fn(Progress) + Send + Sync>;

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
        "another process keeps this data folder in sync; ask it (the tool refresh_sources, or POST /api/v1/sources/{{name}}/sync), or use another --data-dir"
    )]
    Elsewhere,
    /// The files took too long.
    #[error("reading {count} files took more than {} seconds; see whether the disk answers", limit.as_secs())]
    TooSlow {
        /// How many.
        count: usize,
        /// The limit.
        limit: Duration,
    },
    /// The lock can't be used.
    #[error("the data folder can't be locked: {}", .0.kind())]
    Lock(#[from] std::io::Error),
    /// A fault of ours.
    #[error("reading the files failed; the log says more")]
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
struct Known {
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
    staged: Vec<Staged>,
}

impl Knowledge {
    /// Brings the source in and shows it. One at a time; only the process that leads may.
    pub(crate) async fn sync(&self, tell: &Tell) -> Result<Report, SyncError> {
        if !self.lead()? {
            return Err(SyncError::Elsewhere);
        }
        let Ok(_turn) = self.syncing.acquire().await else { return Err(SyncError::Elsewhere) };
        let synced = self.sync_in_turn(tell).await;
        self.note(synced.as_ref().err().map(ToString::to_string));
        synced
    }

    async fn sync_in_turn(&self, tell: &Tell) -> Result<Report, SyncError> {
        let (began, now) = (Instant::now(), Self::now());
        let name = self.options.name.to_string();
        // What is asked for from here on is asked for again.
        let wanted = self.db.read(move |tx| documents::source(tx, &name)).await?.wanted;
        tell(Progress::Fetching);
        let snapshot = self.options.source.refresh().await?;
        let known = self.known().await?;
        let same_rules = known.source.rules == self.options.rules;
        let plan = plan::plan(&known.files, &snapshot, same_rules, now);
        trial::reached(Step::Planned);

        let version = snapshot.version();
        let mut files = known.files.clone();
        let read = self.read_all(&snapshot, &plan, &known, now, tell).await?;
        for path in &plan.gone {
            files.remove(path);
        }
        files.extend(read.iter().chain(&plan.left_out).map(|row| (row.path.clone(), row.clone())));
        let ids = choice::assign(&files);

        let (ahead, replaced) = choice::choose(&files, &known, &ids, same_rules);
        let staged = self.stage_all(&snapshot, &ahead, &version, now, tell).await?;
        let read = read.into_iter().chain(plan.left_out).collect();
        let mut outcome = Outcome { files: read, gone: plan.gone, replaced, staged };
        choice::postpone(&mut outcome, &mut files, &ids, &ahead, now);

        let report = self.report(&outcome, &files, &known, &ids, &version, now);
        let is_news = version != known.source.version.clone().unwrap_or_default()
            || !outcome.files.is_empty()
            || !outcome.gone.is_empty()
            || !outcome.replaced.is_empty()
            || !outcome.staged.is_empty()
            || !same_rules
            || wanted != known.source.done;
        if is_news {
            self.publish(outcome, &files, &version, wanted, now).await?;
            trial::reached(Step::Published);
            self.unshelved.notify_one();
            self.follow().await?;
            self.written.notify_one();
        }
        let synced_at = self.shown().synced_at;
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Report { synced_at, took_ms, ..report })
    }

    async fn known(&self) -> Result<Known, DbError> {
        let name = self.options.name.to_string();
        let read = self.db.read(move |tx| {
            let files = documents::files(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            let served = documents::documents(tx, &name)?.into_iter().map(|row| (row.path.clone(), row));
            Ok(Known {
                source: documents::source(tx, &name)?,
                files: files.collect(),
                documents: served.collect(),
            })
        });
        read.await
    }
}
