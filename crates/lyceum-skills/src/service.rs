//! The skills service: the current skill set, and building the next.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use lyceum_content::skill::{RefreshSettings, Settings, Skill};
use lyceum_model::{ErrorCode, RelPath, SourceName};
use lyceum_source::{Snapshot, Source};
use lyceum_store::{Db, DbError};
use lyceum_tools::Error;
use tokio::sync::{Semaphore, watch};

use crate::{
    Rules, SkillSet,
    analytics::Tracker,
    embedding::Embedding,
    ranking::Coverage,
    script::Scripts,
    sharing::Sharing,
    skill_set::{ConfigYaml, MAX_CONFIG_BYTES, SkillSetBuilder},
};

/// How long a call waits for the first skill set, such as during the first clone.
const FIRST_SKILL_SET_TIMEOUT: Duration = Duration::from_secs(60);

/// Options of the service.
#[derive(Debug)]
pub struct Options {
    /// The name of the source in the configuration.
    pub name: SourceName,
    /// The source of the skills.
    pub source: Source,
    /// Where the skills are in the source, and how they are served.
    pub rules: Rules,
    /// Records usage events.
    pub tracker: Tracker,
    /// Runs scripts.
    pub scripts: Scripts,
    /// File that caches the vectors of skills, if any.
    pub vectors: Option<PathBuf>,
    /// The database that several nodes share, and the name of the skill set in it.
    pub shared: Option<(Db, String)>,
}

/// The service.
#[derive(Debug)]
pub struct Skills {
    pub(crate) name: SourceName,
    pub(crate) store: Arc<SkillSetStore>,
    /// One refresh at a time.
    pub(crate) refreshing: Arc<Semaphore>,
    /// Whether there was a refresh.
    pub(crate) first_refresh: watch::Sender<bool>,
    pub(crate) tracker: Tracker,
    pub(crate) scripts: Scripts,
    pub(crate) embedding: Embedding,
    /// If several nodes serve the same repository.
    pub(crate) sharing: Option<Sharing>,
}

/// Builds and publishes skill sets; separate from the service, so that building can move to another thread.
#[derive(Debug)]
pub(crate) struct SkillSetStore {
    pub source: Source,
    rules: Rules,
    builder: Mutex<SkillSetBuilder>,
    state: watch::Sender<State>,
}

/// The current skill set, and the last error.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The skill set; `None` before the first refresh.
    pub skill_set: Option<Arc<SkillSet>>,
    /// Why the last refresh failed, if it did.
    pub error: Option<String>,
}

impl Skills {
    /// Creates the service, without a skill set.
    pub fn new(options: Options) -> Result<Self, DbError> {
        let Options { name, source, rules, tracker, scripts, vectors, shared } = options;
        // Each node has its own folders.
        let shared = shared.filter(|_| matches!(source, Source::Repository(_)));
        let sharing = shared.map(Sharing::new).transpose()?;
        let store =
            SkillSetStore { source, rules, builder: Mutex::default(), state: watch::Sender::default() };
        Ok(Self {
            name,
            store: Arc::new(store),
            refreshing: Arc::new(Semaphore::new(1)),
            first_refresh: watch::Sender::new(false),
            tracker,
            scripts,
            embedding: Embedding::new(vectors),
            sharing,
        })
    }

    /// The current state.
    pub fn current_state(&self) -> State {
        self.store.state.borrow().clone()
    }

    /// Subscribes to the state.
    pub fn state(&self) -> watch::Receiver<State> {
        self.store.state.subscribe()
    }

    /// Waits for the first refresh, successful or not.
    pub async fn until_refreshed(&self) {
        // Fails only if the sender is gone, and it is in `self`.
        let _refreshed = self.first_refresh.subscribe().wait_for(|is_done| *is_done).await.is_ok();
    }

    /// The name of the source in the configuration.
    pub fn source_name(&self) -> &SourceName {
        &self.name
    }

    /// The source of the skills.
    pub fn source(&self) -> &Source {
        &self.store.source
    }

    /// URI prefix of its Agent Skills: `skill://`, and the name of the set if there are several.
    pub(crate) fn address(&self) -> String {
        self.store
            .rules
            .address
            .as_ref()
            .map_or_else(|| "skill://".to_owned(), |folder| format!("skill://{folder}/"))
    }

    /// The script runner.
    pub fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// How `get_skill` finds skills without keywords: "lexical", "hybrid-summary" while only names and descriptions are
    /// embedded, or "hybrid"; `None` if all declare keywords.
    pub fn ranking(&self) -> Option<&'static str> {
        let skill_set = self.state().borrow().skill_set.clone()?;
        let ranker = Some(&skill_set.ranker).filter(|ranker| !ranker.is_empty())?;
        Some(match self.embedding.coverage(ranker) {
            Coverage::Nothing => "lexical",
            Coverage::Summaries => "hybrid-summary",
            Coverage::All => "hybrid",
        })
    }

    /// The current skill set; waits for the first one.
    pub(crate) async fn skill_set(&self) -> Result<Arc<SkillSet>, Error> {
        let mut state = self.state();
        let settled = state.wait_for(|state| state.skill_set.is_some() || state.error.is_some());
        // The result holds a lock on the state; drop it before borrowing the state.
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
    /// Builds the skill set of a snapshot and publishes it. Blocks.
    pub(crate) fn serve(&self, snapshot: Snapshot) -> Arc<SkillSet> {
        let sibling = self.sibling_config();
        let mut builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        let skill_set = Arc::new(builder.build(snapshot, sibling, &self.rules, Timestamp::now()));
        self.state.send_replace(State { skill_set: Some(skill_set.clone()), error: None });
        skill_set
    }

    /// Records why a refresh failed; the previous skill set is still served.
    pub(crate) fn set_error(&self, error: String) {
        self.state.send_modify(|state| state.error = Some(error));
    }

    /// Subscribes to the state.
    pub(crate) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Polling settings: of the skill set, or the configured ones before the first.
    pub(crate) fn refresh_settings(&self) -> RefreshSettings {
        match &self.state.borrow().skill_set {
            Some(skill_set) => skill_set.settings.refresh.clone(),
            None => Settings::default().overlaid(&self.rules.overlay).refresh,
        }
    }

    /// State outside of a watched folder that matters.
    pub(crate) fn outside_state(&self, root: &Path) -> OutsideState {
        let sibling = self.sibling_path().and_then(|file| file.metadata().ok());
        let stamp = sibling.map(|meta| (meta.len(), meta.modified().ok()));
        OutsideState { real_path: root.canonicalize().ok(), sibling: stamp }
    }

    /// Reads the `config.yaml` next to a folder of skills, in the content root of a checkout.
    fn sibling_config(&self) -> Option<ConfigYaml> {
        let file = self.sibling_path()?;
        match file.metadata() {
            Ok(meta) if meta.len() <= MAX_CONFIG_BYTES => {
                Some(std::fs::read_to_string(&file).map_or(ConfigYaml::Unreadable, ConfigYaml::Text))
            }
            Ok(_) => Some(ConfigYaml::Unreadable),
            Err(_) => None,
        }
    }

    fn sibling_path(&self) -> Option<PathBuf> {
        let folder = match &self.source {
            Source::Folder(folder) => folder,
            Source::Repository(_) | Source::Bundled(_) => return None,
        };
        let file = std::path::absolute(&folder.root).ok()?.parent()?.join("config.yaml");
        file.exists().then_some(file)
    }
}

/// State outside of a watched folder that matters.
#[derive(Debug, PartialEq)]
pub(crate) struct OutsideState {
    /// Real path of the folder.
    pub real_path: Option<PathBuf>,
    /// Size and modification time of the `config.yaml` next to it.
    sibling: Option<(u64, Option<SystemTime>)>,
}

/// Maximum number of suggested paths.
const MAX_SUGGESTIONS: usize = 3;

/// Minimum similarity of a suggested path, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.8;

/// Finds a skill by path, or by the end of its path if no other skill has it: `pdf` finds `skills/pdf`. Else returns an
/// error with the closest paths.
pub(crate) fn find<'a>(skill_set: &'a SkillSet, path: &str) -> Result<&'a Skill, Error> {
    let path = path.strip_suffix("/SKILL.md").unwrap_or(path);
    let known = RelPath::parse(path).map_err(|error| invalid_path("skill_path", &error))?;
    let known = known.as_str();
    if let Some(skill) = skill_set.index.get(known) {
        return Ok(skill);
    }
    let ends = |path: &str| path.strip_suffix(known).is_some_and(|parent| parent.ends_with('/'));
    let by_end: Vec<&Skill> =
        skill_set.index.skills().iter().filter(|skill| ends(skill.path.as_str())).collect();
    let suggestions = match by_end.as_slice() {
        [only] => return Ok(only),
        [] => closest_paths(skill_set, known),
        several => several.iter().take(MAX_SUGGESTIONS).map(|skill| skill.path.as_str()).collect(),
    };
    let did_you_mean = match suggestions.as_slice() {
        [] => String::new(),
        some => format!(" (did you mean {}?)", some.join(", ")),
    };
    Err(Error::Failed {
        code: ErrorCode::NotFound,
        message: format!("skill not found: {known:?}{did_you_mean}; list_skills lists all skills"),
    })
}

/// The paths most similar to one that is not there, by their last segment or as a whole.
fn closest_paths<'a>(skill_set: &'a SkillSet, path: &str) -> Vec<&'a str> {
    let path = path.to_lowercase();
    let mut close: Vec<(f64, &str)> = (skill_set.index.skills().iter())
        .map(|skill| (similarity(&path, skill.path.as_str()), skill.path.as_str()))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .collect();
    close.sort_by(|(one, first), (other, second)| other.total_cmp(one).then(first.cmp(second)));
    close.into_iter().take(MAX_SUGGESTIONS).map(|(_, path)| path).collect()
}

/// How similar a wanted path, in lower case, is to a known one.
fn similarity(wanted: &str, known: &str) -> f64 {
    let known = known.to_lowercase();
    let [wanted_name, name] = [wanted, &known].map(|path| path.rsplit('/').next().unwrap_or_default());
    let is_long = wanted_name.chars().count() > 2;
    let is_part = is_long && name.split('-').any(|part| part == wanted_name);
    let is_typo = is_long && strsim::damerau_levenshtein(wanted_name, name) <= 1;
    let by_name = if is_part || is_typo { 0.95 } else { strsim::jaro_winkler(wanted_name, name) };
    let as_whole = strsim::normalized_levenshtein(wanted, &known);
    // Among equal names, the more similar path comes first.
    by_name.max(as_whole) + as_whole / 100.0
}

/// The error for an invalid path of the caller.
pub(crate) fn invalid_path(field: &str, error: &lyceum_model::InvalidPath) -> Error {
    Error::Failed {
        code: ErrorCode::InvalidPath,
        message: format!("{field}: path traversal is not allowed: {error}"),
    }
}
