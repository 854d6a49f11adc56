//! Refreshing: at the start, when a folder changes, every so often, and when a caller asks. One at a time.

use std::{sync::Arc, time::Duration};

use lyceum_model::SourceName;
use lyceum_source::{Change, Source};
use tokio_util::sync::CancellationToken;

use crate::{Library, Skills};

/// How long to wait before watching a folder again when that failed.
const WATCH_AGAIN_AFTER: Duration = Duration::from_secs(30);

/// What a refresh came to.
#[derive(Debug)]
pub(crate) enum Refreshed {
    /// The library of the newest snapshot, and how many files differ from the one before.
    Done { library: Arc<Library>, files_changed: usize },
    /// Another one is under way.
    Busy,
    /// The source could not be reached; what was there before is served on.
    Failed(String),
}

impl Skills {
    /// Serves what is here already, without asking the network. Blocks while it reads.
    pub fn load_local(&self) {
        match self.desk.source.local() {
            Ok(Some(snapshot)) => log_library(&self.desk.serve(snapshot), None, &self.name),
            Ok(None) => {}
            Err(error) => self.note_failure(error.to_string()),
        }
    }

    /// Keeps the library fresh until it is told to stop.
    pub async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        let work = async {
            match &self.desk.source {
                Source::Folder(folder) => self.follow(&folder.root).await,
                Source::Repository(_) => self.poll().await,
            }
        };
        stop.run_until_cancelled(work).await;
    }

    /// Refreshes when it is its turn, without telling what came of it: the state says so.
    pub async fn refresh_in_turn(&self) {
        // The semaphore is never closed.
        if let Ok(_turn) = self.refreshing.acquire().await {
            self.fetch().await;
        }
    }

    /// Refreshes, unless another refresh is under way.
    pub(crate) async fn refresh(&self) -> Refreshed {
        match self.refreshing.try_acquire() {
            Ok(_turn) => self.fetch().await,
            Err(_) => Refreshed::Busy,
        }
    }

    /// Asks the source for its newest snapshot and serves it. What did not change is not read again, so this is cheap
    /// when there is no news.
    async fn fetch(&self) -> Refreshed {
        let snapshot = match self.desk.source.refresh().await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.note_failure(error.to_string());
                return Refreshed::Failed(error.to_string());
            }
        };
        let before = self.state().borrow().library.clone();
        let files_changed =
            before.as_ref().map_or(snapshot.files().len(), |before| snapshot.changed_since(&before.snapshot));
        let desk = self.desk.clone();
        match tokio::task::spawn_blocking(move || desk.serve(snapshot)).await {
            Ok(library) => {
                log_library(&library, before.as_deref(), &self.name);
                Refreshed::Done { library, files_changed }
            }
            Err(panicked) => {
                tracing::error!(error.cause = %panicked, source.name = %self.name, "building the library failed");
                let error = "the skills could not be read; the log says more".to_owned();
                self.note_failure(error.clone());
                Refreshed::Failed(error)
            }
        }
    }

    /// Refreshes a folder whenever something in it changes.
    async fn follow(&self, root: &std::path::Path) {
        loop {
            let place = root.to_owned();
            match tokio::task::spawn_blocking(move || lyceum_source::watch(&place)).await {
                Ok(Ok(mut watch)) => {
                    // Something may have changed before the watch began.
                    self.refresh_in_turn().await;
                    while watch.changed().await != Change::Gone {
                        self.refresh_in_turn().await;
                    }
                    self.refresh_in_turn().await;
                }
                Ok(Err(error)) => {
                    tracing::warn!(error.cause = %error, source.name = %self.name, "the folder can't be watched; looking again from time to time");
                    self.refresh_in_turn().await;
                }
                Err(error) => {
                    tracing::error!(error.cause = %error, source.name = %self.name, "watching the folder failed");
                }
            }
            tokio::time::sleep(WATCH_AGAIN_AFTER).await;
        }
    }

    /// Refreshes a repository at once and then every so often, if the settings say so.
    async fn poll(&self) {
        self.refresh_in_turn().await;
        loop {
            let refresh =
                self.state().borrow().library.as_ref().map(|library| library.settings.refresh.clone());
            let refresh = refresh.unwrap_or_default();
            // Without any library there is nothing to lose by asking again soon.
            let minutes = if self.state().borrow().library.is_none() { 1 } else { refresh.interval_minutes };
            tokio::time::sleep(Duration::from_secs(minutes * 60)).await;
            if refresh.enabled {
                self.refresh_in_turn().await;
            }
        }
    }

    fn note_failure(&self, error: String) {
        tracing::warn!(source.name = %self.name, error.cause = error, "the source could not be refreshed; what is here is served on");
        self.desk.failed(error);
    }
}

/// How many findings are logged one by one; `lyceum doctor` names them all.
const FINDINGS_IN_LOG: usize = 20;

/// Logs what is served, and what authors would want to know that was not so before.
fn log_library(library: &Library, before: Option<&Library>, name: &SourceName) {
    let known = before.map(Library::findings).unwrap_or_default();
    let mut news = library.findings().iter().filter(|finding| !known.contains(finding));
    for finding in news.by_ref().take(FINDINGS_IN_LOG) {
        tracing::warn!(source.name = %name, file = finding.file, severity = ?finding.severity, "{}", finding.message);
    }
    if let more @ 1.. = news.count() {
        tracing::warn!(source.name = %name, more, "further findings are not logged; run lyceum doctor to see them all");
    }
    let (skills, commit) = (library.index.skills().len(), library.commit());
    tracing::info!(source.name = %name, skills, commit, "skills are served");
}
