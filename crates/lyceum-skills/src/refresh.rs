//! Refreshing: at the start, when a folder changes, every so often, and when a caller asks. One at a time.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lyceum_content::skill::{Finding, Severity};
use lyceum_model::SourceName;
use lyceum_source::{Change, Source, Watch};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::{SkillSet, Skills, State};

/// How often is looked at what no watch of a folder tells: where a link to it leads, and the settings beside it.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// How long a folder that is gone is given to come back.
const MISSING_FOLDER_GRACE: Duration = Duration::from_secs(1);

/// What a refresh came to.
#[derive(Debug)]
pub enum RefreshOutcome {
    /// The skill set of the newest snapshot, and how many files differ from the one before.
    Done {
        /// The skill set.
        skill_set: Arc<SkillSet>,
        /// How many files were added, removed or changed.
        files_changed: usize,
    },
    /// Another one is under way.
    Busy,
    /// The source could not be reached; what was there before is served on.
    Failed(String),
}

impl Skills {
    /// Serves what is here already, without asking the network. Blocks while it reads.
    pub fn load_local(&self) {
        match self.store.source.local() {
            Ok(Some(snapshot)) => log_library(&self.store.serve(snapshot), None, &self.name),
            Ok(None) => {}
            Err(error) => self.note_failure(&error),
        }
    }

    /// Keeps the skill set fresh until it is told to stop.
    pub async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        let work = async {
            match &self.store.source {
                Source::Folder(folder) => self.follow(&folder.root).await,
                Source::Repository(_) => self.poll().await,
                // It never changes, so once is enough.
                Source::Bundled(_) => drop(self.refresh_in_turn().await),
            }
        };
        stop.run_until_cancelled(work).await;
    }

    /// Refreshes when it is its turn.
    pub async fn refresh_in_turn(&self) -> RefreshOutcome {
        match self.refreshing.clone().acquire_owned().await {
            Ok(turn) => self.fetch(turn, None).await,
            // The semaphore is never closed.
            Err(_) => RefreshOutcome::Busy,
        }
    }

    /// Refreshes when it is its turn, after a watch told where something changed, if it could.
    async fn refresh_places_in_turn(&self, places: Option<Vec<PathBuf>>) {
        if let Ok(turn) = self.refreshing.clone().acquire_owned().await {
            self.fetch(turn, places).await;
        }
    }

    /// Refreshes, unless another refresh is under way.
    pub(crate) async fn refresh(&self) -> RefreshOutcome {
        match self.refreshing.clone().try_acquire_owned() {
            Ok(turn) => self.fetch(turn, None).await,
            Err(_) => RefreshOutcome::Busy,
        }
    }

    /// Asks the source for its newest snapshot and serves it. What did not change is not read again, so this is cheap
    /// when there is no news; and where the places are known that may have changed, only those are looked at.
    async fn fetch(&self, turn: OwnedSemaphorePermit, places: Option<Vec<PathBuf>>) -> RefreshOutcome {
        let span = tracing::error_span!("refresh_skills", source.name = %self.name);
        self.fetch_and_serve(turn, places).instrument(span).await
    }

    async fn fetch_and_serve(
        &self,
        turn: OwnedSemaphorePermit,
        places: Option<Vec<PathBuf>>,
    ) -> RefreshOutcome {
        let State { skill_set, error } = self.state().borrow().clone();
        // After a failure, the places that were told before it are not known any more.
        let known = skill_set.filter(|_| error.is_none()).zip(places);
        let source = &self.store.source;
        let refreshed = match known {
            Some((before, places)) => source.refresh_places(before.snapshot.clone(), places).await,
            None => source.refresh().await,
        };
        let snapshot = match refreshed {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.note_failure(&error);
                return RefreshOutcome::Failed(error.to_string());
            }
        };
        let (store, name) = (self.store.clone(), self.name.clone());
        let span = Span::current();
        let built = tokio::task::spawn_blocking(move || {
            let _entered = span.enter();
            // Held until the skill set is served, also when nobody waits for it any more: a later one must not be
            // overtaken.
            let _turn = turn;
            let before = store.state().borrow().skill_set.clone();
            let files_changed = (before.as_ref())
                .map_or(snapshot.files().len(), |before| snapshot.changed_since(&before.snapshot));
            let skill_set = store.serve(snapshot);
            log_library(&skill_set, before.as_deref(), &name);
            RefreshOutcome::Done { skill_set, files_changed }
        });
        built.await.unwrap_or_else(|panicked| {
            tracing::error!(error.cause = %panicked, source.name = %self.name, "building the skill set failed");
            let error = "could not read the skills; see the log".to_owned();
            self.store.failed(error.clone());
            RefreshOutcome::Failed(error)
        })
    }

    /// Refreshes a folder whenever something in it changes.
    async fn follow(&self, root: &Path) {
        loop {
            let place = root.to_owned();
            match tokio::task::spawn_blocking(move || lyceum_source::watch(&place)).await {
                Ok(Ok(watch)) => self.follow_watch(root, watch).await,
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

    /// Follows one watch until it has nothing more to tell: the folder is gone, or a link to it leads elsewhere now.
    /// What a watch of the folder can't see is looked at every so often.
    async fn follow_watch(&self, root: &Path, mut watch: Watch) {
        // Something may have changed before the watch began.
        self.refresh_in_turn().await;
        let mut seen = self.store.surroundings(root);
        loop {
            match tokio::time::timeout(POLL_INTERVAL, watch.changed()).await {
                Ok(Change::Gone) => {
                    self.refresh_in_turn().await;
                    // It may come back.
                    return tokio::time::sleep(MISSING_FOLDER_GRACE).await;
                }
                Ok(Change::Files | Change::Lost) => self.refresh_places_in_turn(watch.places()).await,
                Err(_nothing_heard) => {}
            }
            let now = self.store.surroundings(root);
            if now.place != seen.place {
                return;
            }
            if now != seen {
                self.refresh_in_turn().await;
                seen = now;
            }
        }
    }

    /// Refreshes a repository at once and then every so often, if the settings say so.
    async fn poll(&self) {
        self.refresh_in_turn().await;
        let mut state = self.state();
        let mut last = Instant::now();
        loop {
            let refresh = self.store.refresh_settings();
            // Without any skill set there is nothing to lose by asking again soon.
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

    fn note_failure(&self, error: &lyceum_source::Error) {
        let cause = std::iter::successors(std::error::Error::source(error), |error| error.source());
        let cause: Vec<String> = cause.map(ToString::to_string).collect();
        let served = if self.state().borrow().skill_set.is_some() {
            "still serving the last good version"
        } else {
            "nothing is served yet"
        };
        tracing::warn!(source.name = %self.name, error.message = %error, error.cause = cause.join(": "), "refresh failed; {served}");
        self.store.failed(error.to_string());
    }
}

/// How many findings are logged one by one; `lyceum doctor` names them all.
const MAX_LOGGED_FINDINGS: usize = 20;

/// Logs what is served, and what authors would want to know that was not so before.
fn log_library(skill_set: &SkillSet, before: Option<&SkillSet>, name: &SourceName) {
    let known: HashSet<&Finding> = before.map(SkillSet::findings).unwrap_or_default().iter().collect();
    let is_news = |finding: &&Finding| finding.severity > Severity::Ignored && !known.contains(finding);
    let mut news = skill_set.findings().iter().filter(is_news);
    for finding in news.by_ref().take(MAX_LOGGED_FINDINGS) {
        tracing::warn!(source.name = %name, file = finding.file, severity = ?finding.severity, "{}", finding.message);
    }
    if let more @ 1.. = news.count() {
        tracing::warn!(source.name = %name, more, "further findings are not logged; run lyceum doctor to see them all");
    }
    let (skills, commit) = (skill_set.index.skills().len(), skill_set.commit());
    tracing::info!(source.name = %name, skills, commit, "skills are served");
}
