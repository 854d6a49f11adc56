//! The skills service: what its tools work on, and how it comes by a new library.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use lyceum_content::skill::Skill;
use lyceum_model::{ErrorCode, RelPath, SourceName};
use lyceum_source::{Snapshot, Source};
use lyceum_tools::Error;
use tokio::sync::{Semaphore, watch};

use crate::{Library, Rules, analytics::Tracker, library::Librarian, script::Scripts};

/// How long a call waits for the first library, such as for the first clone of a repository.
const FIRST_LIBRARY_WITHIN: Duration = Duration::from_secs(60);

/// What the service is made of.
#[derive(Debug)]
pub struct Options {
    /// The name of the source in the configuration.
    pub name: SourceName,
    /// Where the skills come from.
    pub source: Source,
    /// Where the skills are in it, and how they are served.
    pub rules: Rules,
    /// Where usage is told.
    pub tracker: Tracker,
    /// How scripts are run.
    pub scripts: Scripts,
}

/// The service.
#[derive(Debug)]
pub struct Skills {
    pub(crate) name: SourceName,
    pub(crate) desk: Arc<Desk>,
    /// One refresh at a time.
    pub(crate) refreshing: Semaphore,
    pub(crate) tracker: Tracker,
    pub(crate) scripts: Scripts,
}

/// Where libraries are built and handed out; apart from the service, so that building can go to another thread.
#[derive(Debug)]
pub(crate) struct Desk {
    pub source: Source,
    rules: Rules,
    librarian: Mutex<Librarian>,
    state: watch::Sender<State>,
}

/// What there is to serve, and what went wrong last.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The library, once there is one.
    pub library: Option<Arc<Library>>,
    /// Why the last refresh failed, if it did.
    pub error: Option<String>,
}

impl Skills {
    /// A service that has nothing to serve yet.
    pub fn new(options: Options) -> Self {
        let Options { name, source, rules, tracker, scripts } = options;
        let desk = Desk { source, rules, librarian: Mutex::default(), state: watch::Sender::default() };
        Self { name, desk: Arc::new(desk), refreshing: Semaphore::new(1), tracker, scripts }
    }

    /// Tells what there is to serve, now and whenever it changes.
    pub fn state(&self) -> watch::Receiver<State> {
        self.desk.state.subscribe()
    }

    /// The name of the source in the configuration.
    pub fn source_name(&self) -> &SourceName {
        &self.name
    }

    /// How scripts are run.
    pub fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// The library of this moment; waits for the first one.
    pub(crate) async fn library(&self) -> Result<Arc<Library>, Error> {
        let mut state = self.state();
        let settled = state.wait_for(|state| state.library.is_some() || state.error.is_some());
        let settled = tokio::time::timeout(FIRST_LIBRARY_WITHIN, settled).await;
        let State { library, error } = self.desk.state.borrow().clone();
        library.ok_or_else(|| {
            let message = match (error, settled) {
                (Some(error), _) => format!("the skills can't be read: {error}"),
                (None, _) => "the skills are still being fetched; try again in a minute".to_owned(),
            };
            Error::Failed { code: ErrorCode::Unavailable, message }
        })
    }
}

impl Desk {
    /// Builds the library of a snapshot and serves it from now on. Blocks while it reads.
    pub(crate) fn serve(&self, snapshot: Snapshot) -> Arc<Library> {
        let beside = self.config_beside();
        let mut librarian = self.librarian.lock().unwrap_or_else(PoisonError::into_inner);
        let library = Arc::new(librarian.build(snapshot, beside.as_deref(), &self.rules, Timestamp::now()));
        self.state.send_replace(State { library: Some(library.clone()), error: None });
        library
    }

    /// Remembers why a refresh failed; what was served before is served on.
    pub(crate) fn failed(&self, error: String) {
        self.state.send_modify(|state| state.error = Some(error));
    }

    /// The `config.yaml` next to a folder of skills: the content root of a checkout.
    fn config_beside(&self) -> Option<String> {
        let Source::Folder(folder) = &self.source else { return None };
        let file: PathBuf = std::path::absolute(&folder.root).ok()?.parent()?.join("config.yaml");
        let small = std::fs::metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= 64 * 1024);
        small.then(|| std::fs::read_to_string(&file).ok()).flatten()
    }
}

/// The skill of that path, or an error that says what to do.
pub(crate) fn find<'a>(library: &'a Library, path: &str) -> Result<&'a Skill, Error> {
    let known = RelPath::parse(path).map_err(|error| invalid_path("skill_path", &error))?;
    library.index.get(known.as_str()).ok_or_else(|| Error::Failed {
        code: ErrorCode::NotFound,
        message: format!(
            "skill not found: {known:?}; list_skills names those there are",
            known = known.as_str()
        ),
    })
}

/// A path of the caller that leaves its folder.
pub(crate) fn invalid_path(field: &str, error: &lyceum_model::InvalidPath) -> Error {
    Error::Failed {
        code: ErrorCode::InvalidPath,
        message: format!("{field}: path traversal is not allowed: {error}"),
    }
}
