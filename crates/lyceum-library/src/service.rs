//! The service: the current indexes, and building the next when a source changes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::future::join_all;
use jiff::Timestamp;
use lyceum_content::{SourceState, SourceStatus};
use lyceum_model::{ErrorCode, SourceName};
use lyceum_net::Backoff;
use lyceum_source::{Snapshot, Source, SourceWatch};
use lyceum_tools::{Error, Prefix};
use tokio::sync::{Mutex, Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::{Indexes, PartKind, PartOptions, cache::Cache};

/// How long a call waits for the first index, such as during the first clone.
const FIRST_INDEX_TIMEOUT: Duration = Duration::from_secs(60);

/// Back-off after a failed sync.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(5), max: Duration::from_secs(300) };

/// Maximum number of findings to log; `lyceum doctor` lists them all.
const MAX_LOGGED_FINDINGS: usize = 20;

/// Settings of the service.
#[derive(Debug)]
pub struct Options {
    /// The sources of the parts, each once.
    pub sources: Vec<SourceOptions>,
    /// The parts.
    pub parts: BTreeMap<PartKind, PartOptions>,
    /// Prefix of the tool names, for answers that mention a tool.
    pub prefix: Prefix,
}

/// A source of the library.
#[derive(Debug)]
pub struct SourceOptions {
    /// Its name in the configuration.
    pub name: SourceName,
    /// The source.
    pub source: Source,
    /// Polling interval.
    pub poll: Duration,
}

/// The service.
#[derive(Debug)]
pub struct Library {
    sources: Vec<LibrarySource>,
    pub(crate) parts: BTreeMap<PartKind, PartOptions>,
    pub(crate) prefix: Prefix,
    state: watch::Sender<State>,
    pub(crate) cache: Arc<Cache>,
}

#[derive(Debug)]
struct LibrarySource {
    options: SourceOptions,
    /// A push, or another reason to sync now.
    requested: Notify,
    /// One sync at a time: an older index must not replace a newer one.
    turn: Mutex<()>,
}

/// The current indexes, and how each source is.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The indexes.
    pub indexes: Indexes,
    /// Why the last sync of a source failed, if it did.
    pub errors: BTreeMap<SourceName, String>,
    /// What of a source is served, and since when.
    pub synced: BTreeMap<SourceName, (Option<String>, Timestamp)>,
}

impl Library {
    /// Creates the service, without indexes.
    pub fn new(options: Options) -> Self {
        let source = |options| LibrarySource { options, requested: Notify::new(), turn: Mutex::default() };
        Self {
            sources: options.sources.into_iter().map(source).collect(),
            parts: options.parts,
            prefix: options.prefix,
            state: watch::Sender::default(),
            cache: Arc::default(),
        }
    }

    /// Whether a part is configured.
    pub fn has(&self, kind: PartKind) -> bool {
        self.parts.contains_key(&kind)
    }

    /// The configured parts.
    pub fn parts(&self) -> impl Iterator<Item = (PartKind, &PartOptions)> {
        self.parts.iter().map(|(kind, part)| (*kind, part))
    }

    /// Subscribes to the state.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// The sources, with their freshness.
    pub fn sources(&self) -> Vec<SourceStatus> {
        let state = self.state.borrow();
        let status = |one: &LibrarySource| {
            let name = one.options.name.clone();
            let (error, synced) = (state.errors.get(&name).cloned(), state.synced.get(&name).cloned());
            SourceStatus {
                state: match (&error, &synced) {
                    (Some(_), _) => SourceState::Failed,
                    (None, Some(_)) => SourceState::Ready,
                    (None, None) => SourceState::Pending,
                },
                name,
                commit: synced.as_ref().and_then(|(commit, _)| commit.clone()),
                synced_at: synced.map(|(_, at)| at),
                error,
            }
        };
        self.sources.iter().map(status).collect()
    }

    /// Indexes what is there already, without network access. Blocks.
    pub fn load_local(&self) {
        for one in &self.sources {
            match one.options.source.local() {
                Ok(Some(snapshot)) => self.serve(&one.options.name, &snapshot),
                Ok(None) => {}
                Err(error) => self.record_failure(&one.options.name, &error),
            }
        }
    }

    /// Syncs all sources once; returns whether all succeeded.
    pub async fn sync_all(self: &Arc<Self>) -> bool {
        let synced = self.sources.iter().map(|one| self.sync(one));
        join_all(synced).await.into_iter().all(|is_synced| is_synced)
    }

    /// Asks for a sync of these sources.
    pub fn request_sync(&self, is_wanted: impl Fn(&SourceName) -> bool) {
        for one in self.sources.iter().filter(|one| is_wanted(&one.options.name)) {
            one.requested.notify_one();
        }
    }

    /// Keeps the indexes up to date, until stopped.
    pub async fn keep_fresh(self: Arc<Self>, stop: CancellationToken) {
        let work = join_all(self.sources.iter().map(|one| self.keep_source(one)));
        stop.run_until_cancelled(work).await;
    }

    async fn keep_source(self: &Arc<Self>, one: &LibrarySource) {
        let (mut watch, mut failures) = (SourceWatch::default(), 0_u32);
        loop {
            watch.start(&one.options.source, &one.options.name).await;
            failures = if self.sync(one).await { 0 } else { failures.saturating_add(1) };
            let next = if failures == 0 { one.options.poll } else { BACKOFF.after(failures) };
            tokio::select! {
                () = one.requested.notified() => {}
                () = watch.changed() => {}
                () = tokio::time::sleep(next) => {}
            }
        }
    }

    /// Syncs a source and builds the indexes of its parts; returns whether it succeeded.
    async fn sync(self: &Arc<Self>, one: &LibrarySource) -> bool {
        let _turn = one.turn.lock().await;
        let snapshot = match one.options.source.refresh().await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.record_failure(&one.options.name, &error);
                return false;
            }
        };
        let (library, name) = (self.clone(), one.options.name.clone());
        let built = tokio::task::spawn_blocking(move || library.serve(&name, &snapshot)).await;
        if let Err(panicked) = &built {
            tracing::error!(error.cause = %panicked, source.name = %one.options.name, "building the index failed");
        }
        built.is_ok()
    }

    /// Builds the indexes of a source's parts, and serves them. Keeps those that would be the same. Blocks.
    fn serve(&self, name: &SourceName, snapshot: &Snapshot) {
        let before = self.state.borrow().indexes.clone();
        let mut built = before.clone();
        for (kind, part) in self.parts.iter().filter(|(_, part)| part.source == *name) {
            if before.snapshot(*kind).is_some_and(|known| snapshot.changed_since(known) == 0) {
                continue;
            }
            built.build(*kind, snapshot, part);
            log_index(*kind, name, &built, &before);
        }
        let commit = Some(snapshot.version());
        self.state.send_modify(|state| {
            for (kind, _) in self.parts.iter().filter(|(_, part)| part.source == *name) {
                match kind {
                    PartKind::Skills => state.indexes.skills.clone_from(&built.skills),
                    PartKind::Agents => state.indexes.agents.clone_from(&built.agents),
                    PartKind::Docs => state.indexes.docs.clone_from(&built.docs),
                }
            }
            state.errors.remove(name);
            state.synced.insert(name.clone(), (commit, Timestamp::now()));
        });
    }

    fn record_failure(&self, name: &SourceName, error: &lyceum_source::Error) {
        let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
        let cause: Vec<String> = causes.map(ToString::to_string).collect();
        tracing::warn!(source.name = %name, error.message = %error, error.cause = cause.join(": "), "sync failed; the last good index is served");
        self.state.send_modify(|state| drop(state.errors.insert(name.clone(), error.to_string())));
    }

    /// What is indexed now.
    pub(crate) fn now<T>(&self, of: impl FnOnce(&Indexes) -> T) -> T {
        of(&self.state.borrow().indexes)
    }

    /// The index of a part; waits for the first one.
    pub(crate) async fn index<T>(
        &self,
        kind: PartKind,
        of: impl Fn(&Indexes) -> Option<T>,
    ) -> Result<T, Error> {
        if let Some(index) = of(&self.state.borrow().indexes) {
            return Ok(index);
        }
        let source = self.parts.get(&kind).map(|part| part.source.clone());
        let error = |state: &State| source.as_ref().and_then(|name| state.errors.get(name)).cloned();
        let mut state = self.state();
        let settled = state.wait_for(|state| of(&state.indexes).is_some() || error(state).is_some());
        // The result holds a lock on the state; drop it before borrowing the state.
        let _settled = tokio::time::timeout(FIRST_INDEX_TIMEOUT, settled).await.is_ok();
        let state = self.state.borrow();
        of(&state.indexes).ok_or_else(|| {
            let message = match error(&state) {
                Some(error) => format!("cannot read the repository of the {}: {error}", kind.as_str()),
                None => format!("the {} are still being fetched; try again in a minute", kind.as_str()),
            };
            Error::Failed { code: ErrorCode::Unavailable, message }
        })
    }
}

/// Logs what is served, and findings that are new.
fn log_index(kind: PartKind, name: &SourceName, now: &Indexes, before: &Indexes) {
    let known = before.findings(kind);
    let new = now.findings(kind).iter().filter(|finding| !known.contains(finding));
    for finding in new.take(MAX_LOGGED_FINDINGS) {
        tracing::warn!(source.name = %name, file = %finding.file, "{}", finding.message);
    }
    let (entries, commit) = (now.count(kind), now.commit(kind));
    tracing::info!(source.name = %name, entries, commit, "the index of the {} is served", kind.as_str());
}
