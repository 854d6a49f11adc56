//! Refreshes the skill set: at start, on file changes, by polling, and on request. One at a time.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lyceum_content::skill::{Finding, Severity};
use lyceum_model::SourceName;
use lyceum_net::Backoff;
use lyceum_source::{Change, Snapshot, Source, Watch};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::{
    SkillSet, Skills, State,
    sharing::{FOLLOW_INTERVAL, Sharing, Step},
};

/// How often to poll what a file watch can't see: the target of a symlink to the folder, and the `config.yaml` next to
/// it.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// Back-off while a published commit can't be fetched.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };

/// How long to wait for a deleted folder to come back.
const MISSING_FOLDER_GRACE: Duration = Duration::from_secs(1);

/// Outcome of a refresh.
#[derive(Debug)]
pub enum RefreshOutcome {
    /// The new skill set, and the number of changed files.
    Done {
        /// The skill set.
        skill_set: Arc<SkillSet>,
        /// Number of files added, removed or changed.
        files_changed: usize,
    },
    /// Another refresh is running.
    Busy,
    /// The source could not be read; the previous skill set is still served.
    Failed(String),
}

impl Skills {
    /// Serves the local snapshot, without network access. Blocks.
    ///
    /// If several nodes serve the skills, the snapshot must be of the published commit.
    pub fn load_local(&self) {
        match self.store.source.local() {
            Ok(Some(snapshot)) if !self.is_published(&snapshot) => {}
            Ok(Some(snapshot)) => log_skill_set(&self.store.serve(snapshot), None, &self.name),
            Ok(None) => {}
            Err(error) => self.record_failure(&error),
        }
    }

    /// Whether no other node has published another commit. Blocks.
    fn is_published(&self, snapshot: &Snapshot) -> bool {
        let Some(sharing) = &self.sharing else { return true };
        sharing
            .published()
            .is_ok_and(|published| published.is_none() || published.as_deref() == snapshot.commit())
    }

    /// Keeps the skill set up to date, until stopped.
    pub async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        let work = async {
            match (&self.store.source, &self.sharing) {
                (Source::Folder(folder), _) => self.watch_folder(&folder.root).await,
                (Source::Repository(_), Some(sharing)) => self.share(sharing).await,
                (Source::Repository(_), None) => self.poll().await,
                // Bundled files never change.
                (Source::Bundled(_), _) => drop(self.refresh_in_turn().await),
            }
        };
        stop.run_until_cancelled(work).await;
        if let Some(sharing) = &self.sharing {
            sharing.release().await;
        }
    }

    /// Serves the commit that the nodes agree on; as the holder of the lease, fetches when the settings say so.
    async fn share(&self, sharing: &Sharing) {
        let (mut last, mut failures) = (None::<Instant>, 0);
        loop {
            let served = self.state().borrow().skill_set.clone();
            let is_first = served.is_none();
            let step = sharing.step(served.as_ref().and_then(|served| served.commit())).await;
            let refresh = self.store.refresh_settings();
            let interval = Duration::from_secs(if is_first { 60 } else { refresh.interval_minutes * 60 });
            let is_due = last.is_none_or(|last| refresh.enabled && last.elapsed() >= interval);
            let fetches = match step {
                Ok(Step::Fetch) => true,
                Ok(Step::Lead) => is_due,
                Ok(Step::Follow) => is_first && is_due,
                Err(error) => {
                    tracing::debug!(error.cause = %error, source.name = %self.name, "could not ask which skills are published; retrying");
                    false
                }
            };
            if fetches {
                let is_done = matches!(self.refresh_in_turn().await, RefreshOutcome::Done { .. });
                failures = if is_done { 0 } else { failures + 1 };
                last = Some(Instant::now());
            }
            tokio::time::sleep(BACKOFF.after(failures).max(FOLLOW_INTERVAL)).await;
        }
    }

    /// Refreshes, after waiting for a running refresh.
    pub async fn refresh_in_turn(&self) -> RefreshOutcome {
        match self.refreshing.clone().acquire_owned().await {
            Ok(permit) => self.fetch(permit, None).await,
            // The semaphore is never closed.
            Err(_) => RefreshOutcome::Busy,
        }
    }

    /// Refreshes after a file watch reported changes; `None` if the paths are unknown.
    async fn refresh_paths_in_turn(&self, paths: Option<Vec<PathBuf>>) {
        if let Ok(permit) = self.refreshing.clone().acquire_owned().await {
            self.fetch(permit, paths).await;
        }
    }

    /// Refreshes, unless another refresh is running.
    pub(crate) async fn refresh(&self) -> RefreshOutcome {
        match self.refreshing.clone().try_acquire_owned() {
            Ok(permit) => self.fetch(permit, None).await,
            Err(_) => RefreshOutcome::Busy,
        }
    }

    /// Fetches the newest snapshot and serves it. Unchanged files are not read again, so this is cheap if nothing
    /// changed; with `paths`, only those are scanned.
    async fn fetch(&self, permit: OwnedSemaphorePermit, paths: Option<Vec<PathBuf>>) -> RefreshOutcome {
        let span = tracing::error_span!("refresh_skills", source.name = %self.name);
        let outcome = self.fetch_and_serve(permit, paths).instrument(span).await;
        self.first_refresh.send_replace(true);
        outcome
    }

    async fn fetch_and_serve(
        &self,
        permit: OwnedSemaphorePermit,
        paths: Option<Vec<PathBuf>>,
    ) -> RefreshOutcome {
        let State { skill_set, error } = self.state().borrow().clone();
        // After a failure, changed paths reported before it are lost: scan everything.
        let known = skill_set.filter(|_| error.is_none()).zip(paths);
        let source = &self.store.source;
        let refreshed = match known {
            Some((before, paths)) => source.refresh_paths(before.snapshot.clone(), paths).await,
            None => source.refresh().await,
        };
        let snapshot = match refreshed {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.record_failure(&error);
                return RefreshOutcome::Failed(error.to_string());
            }
        };
        if let Err(reason) = self.agree(&snapshot).await {
            return RefreshOutcome::Failed(reason);
        }
        let (store, name) = (self.store.clone(), self.name.clone());
        let span = Span::current();
        let built = tokio::task::spawn_blocking(move || {
            let _entered = span.enter();
            // Held until the skill set is served, even if the caller is gone: an older skill set must not replace a
            // newer one.
            let _permit = permit;
            let before = store.state().borrow().skill_set.clone();
            let files_changed = (before.as_ref())
                .map_or(snapshot.files().len(), |before| snapshot.changed_since(&before.snapshot));
            let skill_set = store.serve(snapshot);
            log_skill_set(&skill_set, before.as_deref(), &name);
            RefreshOutcome::Done { skill_set, files_changed }
        });
        built.await.unwrap_or_else(|panicked| {
            tracing::error!(error.cause = %panicked, source.name = %self.name, "building the skill set failed");
            let error = "could not read the skills; see the log".to_owned();
            self.store.set_error(error.clone());
            RefreshOutcome::Failed(error)
        })
    }

    /// Whether a fetched snapshot may be served: if several nodes serve the skills, they agree on its commit.
    async fn agree(&self, snapshot: &Snapshot) -> Result<(), String> {
        let (Some(sharing), Some(commit)) = (&self.sharing, snapshot.commit()) else { return Ok(()) };
        match sharing.agree(commit).await {
            Ok(true) => Ok(()),
            Ok(false) => Err("another node fetches the newest commit; retry in a moment".to_owned()),
            Err(error) => {
                tracing::warn!(error.cause = %error, source.name = %self.name, "could not publish the commit of the skills; retrying");
                Err(error.to_string())
            }
        }
    }

    /// Refreshes a folder on every change.
    async fn watch_folder(&self, root: &Path) {
        loop {
            let folder = root.to_owned();
            match tokio::task::spawn_blocking(move || lyceum_source::watch(&folder)).await {
                Ok(Ok(watch)) => self.run_watch(root, watch).await,
                Ok(Err(error)) => {
                    tracing::warn!(error.cause = %error, source.name = %self.name, "could not watch the folder; polling instead");
                    self.refresh_in_turn().await;
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                Err(error) => {
                    tracing::error!(error.cause = %error, source.name = %self.name, "watching the folder failed");
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            }
        }
    }

    /// Runs one file watch until it is dead: the folder was deleted, or a symlink to it has another target. Polls what
    /// the watch can't see.
    async fn run_watch(&self, root: &Path, mut watch: Watch) {
        // Something may have changed before the watch started.
        self.refresh_in_turn().await;
        let mut seen = self.store.outside_state(root);
        loop {
            match tokio::time::timeout(POLL_INTERVAL, watch.changed()).await {
                Ok(Change::Gone) => {
                    self.refresh_in_turn().await;
                    // It may come back.
                    return tokio::time::sleep(MISSING_FOLDER_GRACE).await;
                }
                Ok(Change::Files | Change::Lost) => self.refresh_paths_in_turn(watch.changed_paths()).await,
                Err(_timeout) => {}
            }
            let now = self.store.outside_state(root);
            if now.real_path != seen.real_path {
                return;
            }
            if now != seen {
                self.refresh_in_turn().await;
                seen = now;
            }
        }
    }

    /// Refreshes a repository at once, and then periodically if the settings say so.
    async fn poll(&self) {
        self.refresh_in_turn().await;
        let mut state = self.state();
        let mut last = Instant::now();
        loop {
            let refresh = self.store.refresh_settings();
            // Without a skill set, retry every minute.
            let minutes =
                if state.borrow_and_update().skill_set.is_none() { 1 } else { refresh.interval_minutes };
            let next = last + Duration::from_secs(minutes * 60);
            tokio::select! {
                () = tokio::time::sleep_until(next), if refresh.enabled => {
                    self.refresh_in_turn().await;
                    last = Instant::now();
                }
                // A new skill set may have another interval.
                changed = state.changed() => if changed.is_err() { return },
            }
        }
    }

    fn record_failure(&self, error: &lyceum_source::Error) {
        let cause = std::iter::successors(std::error::Error::source(error), |error| error.source());
        let cause: Vec<String> = cause.map(ToString::to_string).collect();
        let served = if self.state().borrow().skill_set.is_some() {
            "still serving the last good version"
        } else {
            "nothing is served yet"
        };
        tracing::warn!(source.name = %self.name, error.message = %error, error.cause = cause.join(": "), "refresh failed; {served}");
        self.store.set_error(error.to_string());
    }
}

/// Maximum number of findings to log; `lyceum doctor` lists them all.
const MAX_LOGGED_FINDINGS: usize = 20;

/// Logs the served version, and findings that are new.
fn log_skill_set(skill_set: &SkillSet, before: Option<&SkillSet>, name: &SourceName) {
    let known: HashSet<&Finding> = before.map(SkillSet::findings).unwrap_or_default().iter().collect();
    let is_new = |finding: &&Finding| finding.severity > Severity::Ignored && !known.contains(finding);
    let mut new_findings = skill_set.findings().iter().filter(is_new);
    for finding in new_findings.by_ref().take(MAX_LOGGED_FINDINGS) {
        tracing::warn!(source.name = %name, file = finding.file, severity = ?finding.severity, "{}", finding.message);
    }
    if let more @ 1.. = new_findings.count() {
        tracing::warn!(source.name = %name, more, "further findings are not logged; run lyceum doctor to see them all");
    }
    let (skills, commit) = (skill_set.index.skills().len(), skill_set.commit());
    tracing::info!(source.name = %name, skills, commit, "skills are served");
}
