//! When to sync: at start, on file changes, by polling, on a push, and on request.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use lyceum_net::Backoff;
use lyceum_source::SourceWatch;
use lyceum_store::{Tx, documents, jobs, kv, leases};
use lyceum_tools::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{Knowledge, Progress, Report, SyncError, sync::OnProgress};

/// How often to check for writes of other processes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Back-off after a failed sync.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(5), max: Duration::from_secs(300) };

/// How often expired rows are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// How long to keep events for followers.
const EVENT_RETENTION: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long a caller waits for another process to sync.
const OTHER_PROCESS_TIMEOUT: Duration = Duration::from_secs(60);

impl Knowledge {
    /// Keeps the catalog up to date with the event log, whichever process writes it.
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

    /// Syncs the source whenever there is a reason to, while this process is the leader.
    pub async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = self.wait_to_lead() => {}
                () = stop.cancelled() => return,
            }
            // The previous leader is gone.
            if let Err(error) = self.options.objects.clear_unfinished().await {
                tracing::warn!(error.cause = %error, "could not delete partially written objects");
            }
            tokio::select! {
                () = self.keep_uploading(&stop) => {}
                () = self.keep_syncing() => {}
                () = self.keep_publishing_drafts() => {}
                () = self.keep_leading() => {
                    tracing::warn!(source.name = %self.options.name, "another process has taken over syncing, or the database can't be reached");
                }
                () = stop.cancelled() => {}
            }
            if stop.is_cancelled() {
                return self.stop_leading().await;
            }
        }
    }

    /// Waits until this process is the leader.
    async fn wait_to_lead(&self) {
        let mut logged = false;
        loop {
            match self.lead().await {
                Ok(Some(_)) => return,
                Ok(None) if !logged => {
                    self.first_sync.send_replace(true);
                    tracing::info!(source.name = %self.options.name, "another process syncs this data folder, or the previous configuration until it has ended; serving what it publishes");
                    logged = true;
                }
                Ok(None) => self.set_error(self.rules_conflict().await),
                Err(error) => {
                    if !logged {
                        tracing::warn!(error.cause = %error, "could not become the leader; retrying");
                        logged = true;
                    }
                    self.set_error(Some(error.to_string()));
                }
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Renews the lease in a shared database; returns when it is lost.
    async fn keep_leading(&self) {
        if !self.db.is_shared() {
            return std::future::pending().await;
        }
        let mut renewed = Instant::now();
        while renewed.elapsed() < leases::TTL * 2 / 3 {
            tokio::time::sleep(leases::TTL / 6).await;
            match self.lead().await {
                Ok(Some(_)) => renewed = Instant::now(),
                Ok(None) => return,
                Err(error) => tracing::warn!(error.cause = %error, "could not renew the lease; retrying"),
            }
        }
    }

    /// Gives the lease up, so that another process can take over at once.
    async fn stop_leading(&self) {
        if self.db.is_shared()
            && let Ok(Some(lease)) = self.lead().await
            && let Err(error) = self.db.write(self.options.about(), move |tx| lease.release(tx)).await
        {
            tracing::debug!(error.cause = %error, "could not give up the lease; it expires");
        }
    }

    async fn keep_syncing(&self) {
        let quiet: OnProgress = Arc::new(|_| ());
        let mut watch = SourceWatch::default();
        let first = async {
            match self.sync_local(&quiet).await {
                Ok(Some(report)) => log_report(&report),
                Ok(None) => {}
                Err(error) => self.log_failure(&error),
            }
        };
        first.instrument(self.sync_span()).await;
        let (mut failures, mut swept) = (0_u32, Instant::now());
        loop {
            watch.start(&self.options.source, &self.options.name).await;
            let is_synced = self.sync_and_log(&quiet).instrument(self.sync_span()).await;
            failures = if is_synced { 0 } else { failures.saturating_add(1) };
            if swept.elapsed() > SWEEP_INTERVAL {
                self.sweep().await;
                swept = Instant::now();
            }
            self.wait_for_trigger(&mut watch, failures).await;
        }
    }

    /// Syncs once and logs the outcome; returns whether it succeeded.
    async fn sync_and_log(&self, on_progress: &OnProgress) -> bool {
        match self.sync(on_progress).await {
            Ok(report) => {
                log_report(&report);
                if let Some(warning) = self.snapshot().nothing_published() {
                    tracing::warn!(source.name = report.source, "{warning}");
                }
                true
            }
            Err(error) => {
                self.log_failure(&error);
                false
            }
        }
    }

    /// The span of one sync. Its id is on every log line of it.
    fn sync_span(&self) -> tracing::Span {
        tracing::error_span!("sync", source.name = %self.options.name)
    }

    /// The error to show if the leader publishes with rules that differ from ours.
    async fn rules_conflict(&self) -> Option<String> {
        let name = self.options.key();
        let source = self.db.read(move |tx| documents::source(tx, &name)).await.ok()?;
        let is_other = source.version.is_some() && source.rules != self.options.rules;
        let advice = if self.db.is_shared() {
            "another node serves this knowledge base with a different configuration; give all nodes the same"
        } else {
            "another process uses this data folder with a different configuration; use another --data-dir"
        };
        is_other.then(|| advice.to_owned())
    }

    /// Waits until a sync is due.
    async fn wait_for_trigger(&self, watch: &mut SourceWatch, failures: u32) {
        let next_poll = Instant::now() + self.options.poll;
        let not_before = Instant::now() + BACKOFF.after(failures);
        loop {
            tokio::select! {
                () = self.sync_requested.notified() => {
                    // Skip the back-off: whoever requests a sync may have fixed the problem.
                    return;
                }
                () = watch.changed() => return,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            let now = Instant::now();
            if now >= next_poll || (failures > 0 && now >= not_before) {
                return;
            }
            if now >= not_before && self.is_sync_due().await {
                return;
            }
        }
    }

    /// Whether the database has a sync request or a file to retry.
    async fn is_sync_due(&self) -> bool {
        let name = self.options.key();
        let read = self.db.read(move |tx| {
            let source = documents::source(tx, &name)?;
            let due = documents::next_due(tx, &name)?;
            Ok(source.wanted > source.done || due.is_some_and(|due| due <= Self::now()))
        });
        read.await.unwrap_or(false)
    }

    async fn sweep(&self) {
        let name = self.options.key();
        let about = self.options.about();
        let swept = self.db.write(&about, move |tx| {
            let now = Self::now();
            kv::sweep(tx, now)?;
            lyceum_store::events::trim(tx, &name, now.checked_sub(EVENT_RETENTION).unwrap_or(Timestamp::MIN))
        });
        if let Err(error) = swept.await {
            tracing::warn!(error.cause = %error, "could not delete old events; retrying later");
        }
    }

    fn log_failure(&self, error: &SyncError) {
        let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
        let cause: Vec<String> = causes.map(ToString::to_string).collect();
        let served = match &self.snapshot().version {
            Some(version) => format!("still serving {version}"),
            None => "nothing is served yet".to_owned(),
        };
        tracing::warn!(source.name = %self.options.name, error.message = %error, error.cause = cause.join(": "), "sync failed; {served}");
    }

    /// Syncs now, for a caller. If another process is the leader, asks it and waits.
    pub async fn refresh(&self) -> Result<Report, Error> {
        let quiet: OnProgress = Arc::new(|_| ());
        match self.sync(&quiet).await {
            Err(SyncError::NotLeader) => self.refresh_on_leader().await,
            Ok(report) => Ok(report),
            Err(error) => {
                self.log_failure(&error);
                // Retry in the background.
                self.sync_requested.notify_one();
                Err(Error::Failed { code: error.code(), message: error.to_string() })
            }
        }
    }

    async fn refresh_on_leader(&self) -> Result<Report, Error> {
        let name = self.options.key();
        let about = self.options.about();
        let requested = self.db.write(&about, move |tx| {
            documents::request_sync(tx, &name)?;
            documents::source(tx, &name)
        });
        let wanted = requested.await.map_err(crate::service::db_error)?.wanted;
        let deadline = Instant::now() + OTHER_PROCESS_TIMEOUT;
        while Instant::now() < deadline {
            let name = self.options.key();
            let source = self
                .db
                .read(move |tx| documents::source(tx, &name))
                .await
                .map_err(crate::service::db_error)?;
            if source.done >= wanted {
                self.update_catalog().await.map_err(crate::service::db_error)?;
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

    /// Syncs once and uploads everything, reporting progress; for the command line.
    pub async fn sync_once(
        &self,
        on_progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<Report, SyncError> {
        let on_progress: OnProgress = Arc::new(on_progress);
        let report = self.sync(&on_progress).await?;
        let queue = self.options.queue();
        let revive = move |tx: &Tx<'_>| jobs::retry_all(tx, &queue, tx.now()?);
        self.db.write(self.options.about(), revive).await?;
        self.upload(&on_progress).await?;
        Ok(report)
    }
}

/// Maximum number of files to log individually.
const MAX_LOGGED_FILES: usize = 20;

fn log_report(report: &Report) {
    for failed in report.failed.first.iter().take(MAX_LOGGED_FILES) {
        tracing::warn!(
            source.name = report.source,
            file = failed.path,
            "could not read a file: {}",
            failed.reason
        );
    }
    let counts = [report.added.count, report.changed.count, report.removed.count];
    if counts.iter().sum::<usize>() == 0 {
        tracing::debug!(source.name = report.source, commit = report.commit, "nothing changed");
        return;
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
        "sync published changes"
    );
}
