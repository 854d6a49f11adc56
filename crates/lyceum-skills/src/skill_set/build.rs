//! Building the next skill set. What did not change since the last one is not read again.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    thread,
};

use jiff::Timestamp;
use lyceum_content::{
    files_below,
    skill::{
        AnalyticsOverlay, Candidate, Draft, Finding, NetworkChoice, Overlay, Settings, Severity, Shape,
        SkillIndex, candidates, read,
    },
};
use lyceum_model::RelPath;
use lyceum_source::{FileMeta, ReadError, Snapshot, Stamp};

use super::{AgentSkills, SkillSet, agent_skills::Digests};

/// The largest markdown file that is read.
const MAX_MARKDOWN_BYTES: u64 = 1024 * 1024;

/// The largest `config.yaml` that is read.
pub(crate) const MAX_CONFIG_BYTES: u64 = 64 * 1024;

/// Where the skills are in their source, and what is laid over their settings.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The folder of the skills, where it is written down.
    pub path: Option<RelPath>,
    /// What the server's configuration lays over the `config.yaml` of the source.
    pub overlay: Overlay,
    /// Whom the server works for.
    pub audience: Audience,
    /// What the addresses of Agent Skills begin with, where several sets are served.
    pub address: Option<RelPath>,
}

/// The `config.yaml` next to a folder of skills, which no snapshot of the folder holds.
#[derive(Debug)]
pub(crate) enum SiblingConfig {
    /// What it says.
    Text(String),
    /// It is there, and can't be read.
    Unreadable,
}

/// Whom a server works for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The one person who started it: the `config.yaml` of their skills may turn scripts on, and that of a folder of
    /// theirs analytics.
    OnePerson,
    /// Everyone who reaches it: only whoever runs the server may.
    Everyone,
}

/// Builds skill sets, and remembers what was read for the last one.
#[derive(Debug, Default)]
pub(crate) struct SkillSetBuilder {
    read: HashMap<RelPath, Arc<Reading>>,
    digests: Digests,
}

/// What one file came to.
#[derive(Debug)]
struct Reading {
    /// What it was read from; nothing where the disk failed, so that it is read again.
    stamp: Option<Stamp>,
    shape: Shape,
    draft: Option<Arc<Draft>>,
    findings: Vec<Finding>,
}

impl SkillSetBuilder {
    /// Builds the skill set of a snapshot, with the settings that may lie beside it. Blocks.
    pub(crate) fn build(
        &mut self,
        snapshot: Snapshot,
        beside: Option<SiblingConfig>,
        rules: &Rules,
        now: Timestamp,
    ) -> SkillSet {
        let root = root(&snapshot, rules.path.as_ref());
        let below_root: BTreeMap<RelPath, FileMeta>;
        let files = match &root {
            None => snapshot.files(),
            Some(root) => {
                let below = |(path, meta): (&RelPath, &FileMeta)| Some((path.below(root)?, meta.clone()));
                below_root = snapshot.files().iter().filter_map(below).collect();
                &below_root
            }
        };
        let (settings, mut findings) = settings(&snapshot, root.as_ref(), beside, rules);
        findings.extend(snapshot.problems().iter().map(|problem| Finding {
            file: problem.path.clone(),
            severity: if problem.reason.is_deliberate() { Severity::Ignored } else { Severity::Skipped },
            message: problem.reason.to_string(),
        }));
        findings.extend(outside(&snapshot, root.as_ref(), rules));
        let place = |file: &RelPath| root.as_ref().map_or_else(|| Some(file.clone()), |root| root.join(file));
        let read_file = |file: &RelPath, most| {
            place(file).ok_or(ReadError::Missing).and_then(|path| snapshot.read(&path, most))
        };
        self.read(&candidates(files.keys(), &HashSet::new()), files, &read_file);
        // What turned out to be no skill has no folder of files either: what lies there may be skills.
        let none: HashSet<RelPath> = (self.read.iter().filter(|(_, reading)| reading.draft.is_none()))
            .map(|(file, _)| file.clone())
            .collect();
        if !none.is_empty() {
            self.read(&candidates(files.keys(), &none), files, &read_file);
        }
        let drafts = self.read.values().filter_map(|reading| reading.draft.clone());
        let findings_of_files = self.read.values().flat_map(|reading| &reading.findings);
        let mut index = SkillIndex::new(drafts, files, findings_of_files.chain(&findings));
        let (agent_skills, further) = AgentSkills::new(&index, files, &mut self.digests, &read_file);
        let agent_skills = match &rules.address {
            Some(folder) => agent_skills.below(folder),
            None => agent_skills,
        };
        index.findings.extend(further);
        index
            .findings
            .sort_by(|one, other| other.severity.cmp(&one.severity).then(one.file.cmp(&other.file)));
        SkillSet { index, settings, synced_at: now, agent_skills, snapshot, root }
    }

    /// Reads what is new or changed, on all cores, and forgets what is gone.
    fn read(
        &mut self,
        candidates: &[Candidate],
        files: &BTreeMap<RelPath, FileMeta>,
        read_file: &(impl Fn(&RelPath, u64) -> Result<Vec<u8>, ReadError> + Sync),
    ) {
        let mut next = HashMap::with_capacity(candidates.len());
        let mut changed = Vec::new();
        for candidate in candidates {
            let Some(meta) = files.get(&candidate.file) else { continue };
            match self.read.get(&candidate.file) {
                Some(known)
                    if known.stamp.as_ref() == Some(&meta.stamp) && known.shape == candidate.shape =>
                {
                    next.insert(candidate.file.clone(), known.clone());
                }
                _ => changed.push((candidate, meta)),
            }
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let share = changed.len().div_ceil(cores).max(1);
        let readings = thread::scope(|scope| {
            let work = |part: &[(&Candidate, &FileMeta)]| -> Vec<_> {
                part.iter()
                    .map(|(candidate, meta)| (candidate.file.clone(), reading(candidate, meta, read_file)))
                    .collect()
            };
            let threads: Vec<_> = changed.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|_| {
                tracing::error!("reading skills failed in one thread; its files are read again at the next refresh");
                Vec::new()
            })).collect::<Vec<_>>()
        });
        next.extend(readings.into_iter().map(|(file, reading)| (file, Arc::new(reading))));
        self.read = next;
    }
}

fn reading(
    candidate: &Candidate,
    meta: &FileMeta,
    read_file: &impl Fn(&RelPath, u64) -> Result<Vec<u8>, ReadError>,
) -> Reading {
    let bytes = read_file(&candidate.file, MAX_MARKDOWN_BYTES);
    let kept = !matches!(bytes, Err(ReadError::Io(_)));
    let (draft, findings) = match bytes {
        Ok(bytes) => read(candidate, &bytes),
        // It vanished between listing and reading: the next snapshot knows.
        Err(ReadError::Missing) => (None, Vec::new()),
        Err(error) => {
            let message = match error {
                ReadError::TooLarge { .. } => {
                    "it is larger than 1 MiB; split it, or move parts to files of their own".to_owned()
                }
                other => other.to_string(),
            };
            (None, vec![Finding { file: candidate.file.to_string(), severity: Severity::Skipped, message }])
        }
    };
    Reading {
        stamp: kept.then(|| meta.stamp.clone()),
        shape: candidate.shape,
        draft: draft.map(Arc::new),
        findings,
    }
}

/// The folder of the skills: as written; else, in a repository, `skills/` where there is one.
fn root(snapshot: &Snapshot, written: Option<&RelPath>) -> Option<RelPath> {
    // A folder on disk is named by whoever means it; a commit is what a repository has.
    if written.is_some() || snapshot.commit().is_none() {
        return written.cloned();
    }
    let folder = RelPath::parse("skills").ok()?;
    let has_folder = files_below(snapshot.files(), Some(&folder)).next().is_some();
    has_folder.then_some(folder)
}

/// Skills of the standard that lie outside of the folder that was found by itself: they are not served, and nobody said so.
fn outside(snapshot: &Snapshot, root: Option<&RelPath>, rules: &Rules) -> Vec<Finding> {
    let Some(root) = root.filter(|_| rules.path.is_none()) else { return Vec::new() };
    let skills =
        snapshot.files().keys().filter(|path| path.name() == "SKILL.md" && path.below(root).is_none());
    let message = format!(
        "it is not below {root}/, which is served; to serve another folder, write it as [skills] path"
    );
    skills
        .map(|path| Finding { file: path.to_string(), severity: Severity::Skipped, message: message.clone() })
        .collect()
}

/// The settings that count, and what is wrong with `config.yaml`.
fn settings(
    snapshot: &Snapshot,
    root: Option<&RelPath>,
    beside: Option<SiblingConfig>,
    rules: &Rules,
) -> (Settings, Vec<Finding>) {
    let name = RelPath::parse("config.yaml").ok();
    let inside =
        name.as_ref().and_then(|name| root.map_or_else(|| Some(name.clone()), |root| root.join(name)));
    let places = [inside, name.filter(|_| root.is_some())];
    let in_source =
        places.into_iter().flatten().find_map(|path| match snapshot.read(&path, MAX_CONFIG_BYTES) {
            Ok(bytes) => {
                Some(String::from_utf8(bytes).map_or(SiblingConfig::Unreadable, SiblingConfig::Text))
            }
            Err(ReadError::Missing) => None,
            Err(ReadError::TooLarge { .. } | ReadError::Leaves | ReadError::Io(_)) => {
                Some(SiblingConfig::Unreadable)
            }
        });
    let (mut overlay, mut warnings) = match in_source.or(beside) {
        None => (Overlay::default(), Vec::new()),
        Some(SiblingConfig::Text(text)) => Overlay::from_yaml(&text),
        Some(SiblingConfig::Unreadable) => {
            let message =
                "is larger than 64 KiB or can't be read; it has no effect, and no script is run".to_owned();
            (Overlay::unreadable(), vec![message])
        }
    };
    let mut settings = Settings::default();
    // What is fetched was written by others: it does not say where the tasks of this person are sent.
    let is_fetched = snapshot.commit().is_some();
    match rules.audience {
        Audience::Everyone => {
            settings.scripts.enabled = false;
            settings.scripts.network = NetworkChoice::None;
            warnings.extend(without_switches(&mut overlay));
        }
        Audience::OnePerson if is_fetched => warnings.extend(without_endpoints(&mut overlay)),
        Audience::OnePerson => {}
    }
    let finding = |message| Finding { file: "config.yaml".to_owned(), severity: Severity::Warning, message };
    let mut settings = settings.overlaid(&overlay).overlaid(&rules.overlay);
    let mut findings: Vec<_> = warnings.into_iter().map(finding).collect();
    if rules.audience == Audience::Everyone && settings.scripts.workspace.take().is_some() {
        let message = "scripts.workspace: is for stdio only; over HTTP it has no effect".to_owned();
        findings.push(Finding { file: "lyceum.toml".to_owned(), severity: Severity::Warning, message });
    }
    (settings, findings)
}

/// Takes out where usage events are sent to; turning them off stays.
fn without_endpoints(overlay: &mut Overlay) -> Option<String> {
    let AnalyticsOverlay { enabled, endpoint } = std::mem::take(&mut overlay.analytics);
    overlay.analytics.enabled = enabled.filter(|enabled| !enabled);
    (enabled == Some(true) || endpoint.is_some_and(|endpoint| !endpoint.is_empty())).then(|| {
        "analytics: a repository can't turn it on or name its endpoint; set ANALYTICS_ENDPOINT, or write \
         [skills.analytics] in lyceum.toml"
            .to_owned()
    })
}

/// Takes out what a repository may not decide for a server that many use: it can turn scripts off and make limits
/// smaller, and nothing else of that kind.
fn without_switches(overlay: &mut Overlay) -> Vec<String> {
    let mut warnings = Vec::new();
    let only_here = |key: &str| {
        format!("{key}: on a server for many, only lyceum.toml turns it on; it has no effect here")
    };
    if overlay.scripts.enabled == Some(true) {
        overlay.scripts.enabled = None;
        warnings.push(only_here("scripts.enabled"));
    }
    if std::mem::take(&mut overlay.analytics) != AnalyticsOverlay::default() {
        warnings.push(only_here("analytics.enabled"));
    }
    let Settings { scripts, assets, .. } = Settings::default();
    let mut lower = |value: &mut Option<u64>, most: u64, key: &str| {
        if value.is_some_and(|value| value > most) {
            *value = None;
            warnings.push(format!(
                "{key}: on a server for many, only lyceum.toml makes it larger; it has no effect here"
            ));
        }
    };
    lower(&mut overlay.scripts.timeout_seconds, scripts.timeout_seconds, "scripts.timeout_seconds");
    lower(&mut overlay.assets.max_size_bytes, assets.max_size_bytes, "assets.max_size_bytes");
    if overlay.scripts.max_output_bytes.is_some_and(|bytes| bytes > scripts.max_output_bytes) {
        overlay.scripts.max_output_bytes = None;
        warnings.push("scripts.max_output_bytes: on a server for many, only lyceum.toml makes it larger; it has no effect here".to_owned());
    }
    if overlay.scripts.runners.take().is_some() {
        let message =
            "scripts.runners: on a server for many, only lyceum.toml names runners; it has no effect here";
        warnings.push(message.to_owned());
    }
    let is_usual = |extension: &String| scripts.allowed_extensions.contains(extension);
    if let Some(extensions) = &mut overlay.scripts.allowed_extensions
        && !extensions.iter().all(is_usual)
    {
        extensions.retain(is_usual);
        warnings.push("scripts.allowed_extensions: on a server for many, only lyceum.toml adds extensions; those that are not usual have no effect here".to_owned());
    }
    warnings
}
