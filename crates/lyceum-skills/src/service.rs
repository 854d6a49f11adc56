//! The skills service: what its tools work on, and how it comes by a new skill set.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lyceum_content::skill::{RefreshSettings, Settings, Skill};
use lyceum_model::{ErrorCode, RelPath, SourceName};
use lyceum_source::{Snapshot, Source};
use lyceum_tools::Error;
use tokio::sync::{Semaphore, watch};

use crate::{
    Rules, SkillSet,
    analytics::Tracker,
    script::Scripts,
    skill_set::{MAX_CONFIG_BYTES, SiblingConfig, SkillSetBuilder},
};

/// How long a call waits for the first skill set, such as for the first clone of a repository.
const FIRST_SKILL_SET_TIMEOUT: Duration = Duration::from_secs(60);

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
    pub(crate) store: Arc<SkillSetStore>,
    /// One refresh at a time.
    pub(crate) refreshing: Arc<Semaphore>,
    pub(crate) tracker: Tracker,
    pub(crate) scripts: Scripts,
}

/// Where skill sets are built and handed out; apart from the service, so that building can go to another thread.
#[derive(Debug)]
pub(crate) struct SkillSetStore {
    pub source: Source,
    rules: Rules,
    builder: Mutex<SkillSetBuilder>,
    state: watch::Sender<State>,
}

/// What there is to serve, and what went wrong last.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The skill set, once there is one.
    pub skill_set: Option<Arc<SkillSet>>,
    /// Why the last refresh failed, if it did.
    pub error: Option<String>,
}

impl Skills {
    /// A service that has nothing to serve yet.
    pub fn new(options: Options) -> Self {
        let Options { name, source, rules, tracker, scripts } = options;
        let store =
            SkillSetStore { source, rules, builder: Mutex::default(), state: watch::Sender::default() };
        Self { name, store: Arc::new(store), refreshing: Arc::new(Semaphore::new(1)), tracker, scripts }
    }

    /// Tells what there is to serve, now and whenever it changes.
    pub fn state(&self) -> watch::Receiver<State> {
        self.store.state.subscribe()
    }

    /// The name of the source in the configuration.
    pub fn source_name(&self) -> &SourceName {
        &self.name
    }

    /// Where the skills come from.
    pub fn source(&self) -> &Source {
        &self.store.source
    }

    /// What the addresses of its Agent Skills begin with: `skill://`, and the name of one set of several.
    pub(crate) fn address(&self) -> String {
        self.store
            .rules
            .address
            .as_ref()
            .map_or_else(|| "skill://".to_owned(), |folder| format!("skill://{folder}/"))
    }

    /// How scripts are run.
    pub fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// The skill set of this moment; waits for the first one.
    pub(crate) async fn skill_set(&self) -> Result<Arc<SkillSet>, Error> {
        let mut state = self.state();
        let settled = state.wait_for(|state| state.skill_set.is_some() || state.error.is_some());
        // What comes back holds the lock of the state, so it is let go before the state is looked at.
        let _settled = tokio::time::timeout(FIRST_SKILL_SET_TIMEOUT, settled).await.is_ok();
        let State { skill_set, error } = self.store.state.borrow().clone();
        skill_set.ok_or_else(|| {
            let message = match error {
                Some(error) => format!("cannot read the skills: {error}"),
                None => "the skills are still being fetched; try again in a minute".to_owned(),
            };
            Error::Failed { code: ErrorCode::Unavailable, message }
        })
    }
}

impl SkillSetStore {
    /// Builds the skill set of a snapshot and serves it from now on. Blocks while it reads.
    pub(crate) fn serve(&self, snapshot: Snapshot) -> Arc<SkillSet> {
        let beside = self.config_beside();
        let mut builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        let skill_set = Arc::new(builder.build(snapshot, beside, &self.rules, Timestamp::now()));
        self.state.send_replace(State { skill_set: Some(skill_set.clone()), error: None });
        skill_set
    }

    /// Remembers why a refresh failed; what was served before is served on.
    pub(crate) fn failed(&self, error: String) {
        self.state.send_modify(|state| state.error = Some(error));
    }

    /// What there is to serve.
    pub(crate) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// How often to ask for news: as the skill set says, or as far as is known without one.
    pub(crate) fn refresh_settings(&self) -> RefreshSettings {
        match &self.state.borrow().skill_set {
            Some(skill_set) => skill_set.settings.refresh.clone(),
            None => Settings::default().overlaid(&self.rules.overlay).refresh,
        }
    }

    /// What lies outside of a watched folder and still counts.
    pub(crate) fn surroundings(&self, root: &Path) -> FolderSurroundings {
        let beside = self.beside().and_then(|file| file.metadata().ok());
        let stamp = beside.map(|meta| (meta.len(), meta.modified().ok()));
        FolderSurroundings { place: root.canonicalize().ok(), beside: stamp }
    }

    /// The `config.yaml` next to a folder of skills: the content root of a checkout.
    fn config_beside(&self) -> Option<SiblingConfig> {
        let file = self.beside()?;
        match file.metadata() {
            Ok(meta) if meta.len() <= MAX_CONFIG_BYTES => {
                Some(std::fs::read_to_string(&file).map_or(SiblingConfig::Unreadable, SiblingConfig::Text))
            }
            Ok(_) => Some(SiblingConfig::Unreadable),
            Err(_) => None,
        }
    }

    fn beside(&self) -> Option<PathBuf> {
        let folder = match &self.source {
            Source::Folder(folder) => folder,
            Source::Repository(_) | Source::Bundled(_) => return None,
        };
        let file = std::path::absolute(&folder.root).ok()?.parent()?.join("config.yaml");
        file.exists().then_some(file)
    }
}

/// What lies outside of a watched folder and still counts.
#[derive(Debug, PartialEq)]
pub(crate) struct FolderSurroundings {
    /// Where the folder really is.
    pub place: Option<PathBuf>,
    /// Size and time of the `config.yaml` beside it.
    beside: Option<(u64, Option<SystemTime>)>,
}

/// The skill of that path, or an error that says what to do.
pub(crate) fn find<'a>(skill_set: &'a SkillSet, path: &str) -> Result<&'a Skill, Error> {
    let known = RelPath::parse(path).map_err(|error| invalid_path("skill_path", &error))?;
    skill_set.index.get(known.as_str()).ok_or_else(|| Error::Failed {
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
