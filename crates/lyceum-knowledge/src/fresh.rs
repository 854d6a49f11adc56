//! Keeping fresh: at the start, when a folder changes, every so often, when a push or a caller asks.

use std::{path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;
use lyceum_net::Backoff;
use lyceum_source::{Change, Source, Watch};
use lyceum_store::{documents, jobs, kv};
use lyceum_tools::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{Knowledge, Progress, Report, SyncError, sync::OnProgress, upload::QUEUE};

/// How often is looked at what another process may have written.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long is waited after a sync that failed, when someone is waiting for it.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(5), max: Duration::from_secs(300) };

/// How often expired rows are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// How long events are kept for those who follow.
const EVENT_RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long a caller waits for another process to sync.
const OTHER_PROCESS_TIMEOUT: Duration = Duration::from_secs(60);

impl Knowledge {
    /// Keeps what is shown up with what is written, whoever writes it.
    pub async fn keep_catalog(self: Arc<Self>, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.update_catalog().await {
                tracing::warn!(error.cause = %error, source.name = %self.options.name, "could not update the catalog; retrying");
            }
            tokio::select! {
                () = self.events_written.notified() => {}
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Brings the source up to date whenever there is a reason to, once this process may.
    pub async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        let mut logged = false;
        loop {
            match self.lead() {
                Ok(true) => break,
                Ok(false) if !logged => {
                    tracing::info!(source.name = %self.options.name, "another process syncs this data folder; serving what it publishes");
                    logged = true;
                }
                Ok(false) => self.note(self.other_rules().await),
                Err(error) => {
                    if !logged {
                        tracing::warn!(error.cause = %error, "could not lock the data folder; retrying");
                        logged = true;
                    }
                    self.note(Some(SyncError::Lock(error).to_string()));
                }
            }
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = stop.cancelled() => return,
            }
        }
        // Whoever wrote before is gone.
        if let Err(error) = self.options.objects.clear_unfinished().await {
            tracing::warn!(error.cause = %error, "could not delete partially written objects");
        }
        tokio::select! {
            () = self.keep_uploading(&stop) => {}
            () = self.keep_syncing() => {}
            () = stop.cancelled() => {}
        }
    }

    async fn keep_syncing(&self) {
        let quiet: OnProgress = Arc::new(|_| ());
        let mut watch = SourceWatch::default();
        let first = async {
            if let Err(error) = self.sync_what_is_here(&quiet).await {
                log_failure(&self.options.name, &error);
            }
        };
        first.instrument(self.sync_span()).await;
        let (mut failures, mut swept) = (0_u32, Instant::now());
        loop {
            watch.listen(&self.options.source, &self.options.name).await;
            let is_synced = self.sync_and_log(&quiet).instrument(self.sync_span()).await;
            failures = if is_synced { 0 } else { failures.saturating_add(1) };
            if swept.elapsed() > SWEEP_INTERVAL {
                self.sweep().await;
                swept = Instant::now();
            }
            self.until_a_reason(&mut watch, failures).await;
        }
    }

    /// Syncs once, logs what came of it, and says whether it worked.
    async fn sync_and_log(&self, on_progress: &OnProgress) -> bool {
        match self.sync(on_progress).await {
            Ok(report) => {
                log_report(&report);
                true
            }
            Err(error) => {
                log_failure(&self.options.name, &error);
                false
            }
        }
    }

    /// The span of one sync. Its id is on every log line of it.
    fn sync_span(&self) -> tracing::Span {
        tracing::error_span!("sync", source.name = %self.options.name)
    }

    /// What to say where another process brings in what this one may not show.
    async fn other_rules(&self) -> Option<String> {
        let name = self.options.name.to_string();
        let source = self.db.read(move |tx| documents::source(tx, &name)).await.ok()?;
        let is_other = source.version.is_some() && source.rules != self.options.rules;
        is_other.then(|| {
            "another process uses this data folder with a different configuration; use another --data-dir"
                .to_owned()
        })
    }

    /// Waits for a reason to sync.
    async fn until_a_reason(&self, watch: &mut SourceWatch, failures: u32) {
        let next_poll = Instant::now() + self.options.poll;
        let not_before = Instant::now() + BACKOFF.after(failures);
        loop {
            tokio::select! {
                () = self.sync_requested.notified() => {
                    // Someone who asks by hand may have mended what failed.
                    return;
                }
                () = watch.heard() => return,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            let now = Instant::now();
            if now >= next_poll || (failures > 0 && now >= not_before) {
                return;
            }
            if now >= not_before && self.has_a_reason().await {
                return;
            }
        }
    }

    /// Whether the database says that something is to be done.
    async fn has_a_reason(&self) -> bool {
        let name = self.options.name.to_string();
        let read = self.db.read(move |tx| {
            let source = documents::source(tx, &name)?;
            let due = documents::next_due(tx, &name)?;
            Ok(source.wanted > source.done || due.is_some_and(|due| due <= Self::now()))
        });
        read.await.unwrap_or(false)
    }

    async fn sweep(&self) {
        let name = self.options.name.to_string();
        let swept = self.db.write(move |tx| {
            let now = Self::now();
            kv::sweep(tx, now)?;
            lyceum_store::events::trim(tx, &name, now.checked_sub(EVENT_RETENTION).unwrap_or(Timestamp::MIN))
        });
        if let Err(error) = swept.await {
            tracing::warn!(error.cause = %error, "could not delete old events; retrying later");
        }
    }

    /// Syncs now, for a caller. Where another process does that, it is asked and waited for.
    pub async fn refresh(&self) -> Result<Report, Error> {
        let quiet: OnProgress = Arc::new(|_| ());
        match self.sync(&quiet).await {
            Err(SyncError::Elsewhere) => self.refresh_elsewhere().await,
            Ok(report) => Ok(report),
            Err(error) => {
                log_failure(&self.options.name, &error);
                // From now on it is tried again without being asked.
                self.sync_requested.notify_one();
                Err(Error::Failed { code: error.code(), message: error.to_string() })
            }
        }
    }

    async fn refresh_elsewhere(&self) -> Result<Report, Error> {
        let name = self.options.name.to_string();
        let requested = self.db.write(move |tx| {
            documents::want(tx, &name)?;
            documents::source(tx, &name)
        });
        let wanted = requested.await.map_err(crate::service::failed)?.wanted;
        let until = Instant::now() + OTHER_PROCESS_TIMEOUT;
        while Instant::now() < until {
            let name = self.options.name.to_string();
            let source =
                self.db.read(move |tx| documents::source(tx, &name)).await.map_err(crate::service::failed)?;
            if source.done >= wanted {
                self.update_catalog().await.map_err(crate::service::failed)?;
                let snapshot = self.snapshot();
                return Ok(Report {
                    source: self.options.name.to_string(),
                    commit: snapshot.version.clone().unwrap_or_default(),
                    synced_at: snapshot.synced_at,
                    files: snapshot.files,
                    ..Report::default()
                });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let message = "the process that syncs this data folder did not respond in time".to_owned();
        Err(Error::Failed { code: lyceum_model::ErrorCode::Timeout, message })
    }

    /// Syncs once and uploads everything, telling how far it is: for the command line.
    pub async fn sync_once(
        &self,
        on_progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<Report, SyncError> {
        let on_progress: OnProgress = Arc::new(on_progress);
        let report = self.sync(&on_progress).await?;
        self.db.write(|tx| jobs::revive(tx, QUEUE, Self::now())).await?;
        self.upload(&on_progress).await?;
        Ok(report)
    }
}

/// What tells that a folder changed.
#[derive(Default)]
struct SourceWatch(Option<Watch>);

impl SourceWatch {
    /// Begins to watch a folder, if it is not watched.
    async fn listen(&mut self, source: &Source, name: &lyceum_model::SourceName) {
        let Source::Folder(folder) = source else { return };
        if self.0.is_some() {
            return;
        }
        let root = folder.root.clone();
        let watch = move || lyceum_source::watch(Path::new(&root));
        match tokio::task::spawn_blocking(watch).await {
            Ok(Ok(watch)) => self.0 = Some(watch),
            Ok(Err(error)) => {
                tracing::warn!(error.cause = %error, source.name = %name, "could not watch the folder; polling instead");
            }
            Err(error) => tracing::error!(error.cause = %error, "watching the folder failed"),
        }
    }

    /// Waits until something changed.
    async fn heard(&mut self) {
        match &mut self.0 {
            Some(watch) => {
                if watch.changed().await == Change::Gone {
                    self.0 = None;
                }
            }
            None => std::future::pending().await,
        }
    }
}

/// How many files are logged one by one.
const MAX_LOGGED_FILES: usize = 20;

fn log_report(report: &Report) {
    let counts = [report.added.count, report.changed.count, report.removed.count];
    if counts.iter().sum::<usize>() == 0 {
        tracing::debug!(source.name = report.source, commit = report.commit, "nothing changed");
        return;
    }
    for failed in report.failed.first.iter().take(MAX_LOGGED_FILES) {
        tracing::warn!(
            source.name = report.source,
            file = failed.path,
            "could not be read: {}",
            failed.reason
        );
    }
    let [added, changed, removed] = counts;
    tracing::info!(
        source.name = report.source,
        commit = report.commit,
        added,
        changed,
        removed,
        published = report.files.published,
        unpublished = report.files.unpublished + report.files.drafts,
        skipped = report.files.skipped,
        duration_ms = report.took_ms,
        "knowledge is served"
    );
}

fn log_failure(name: &lyceum_model::SourceName, error: &SyncError) {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    let cause: Vec<String> = causes.map(ToString::to_string).collect();
    tracing::warn!(source.name = %name, error.message = %error, error.cause = cause.join(": "), "sync failed; still serving the last good commit");
}
