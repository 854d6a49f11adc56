//! Builds the next skill set. Unchanged files are not read again.

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

use crate::ranking::{Ranker, SkillText};

use super::{AgentSkills, SkillSet, agent_skills::Digests};

/// Maximum size of a markdown file.
const MAX_MARKDOWN_BYTES: u64 = 1024 * 1024;

/// Maximum size of `config.yaml`.
pub(crate) const MAX_CONFIG_BYTES: u64 = 64 * 1024;

/// Where the skills are in the source, and overrides of their settings.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The skills folder, if configured.
    pub path: Option<RelPath>,
    /// Settings of the server's configuration, which override the source's `config.yaml`.
    pub overlay: Overlay,
    /// Who uses the server.
    pub audience: Audience,
    /// URI prefix of Agent Skills, if several sets are served.
    pub address: Option<RelPath>,
}

/// A `config.yaml`, in the source or next to a folder source.
#[derive(Debug)]
pub(crate) enum ConfigYaml {
    /// Its text.
    Text(String),
    /// It exists, but can't be read.
    Unreadable,
}

/// Who uses a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The person who started it: the `config.yaml` of the skills may enable scripts and, in a local folder, analytics.
    OnePerson,
    /// Everyone who can reach it: only the operator may enable these.
    Everyone,
}

/// Builds skill sets, and caches parsed files.
#[derive(Debug, Default)]
pub(crate) struct SkillSetBuilder {
    read: HashMap<RelPath, Arc<ParsedFile>>,
    digests: Digests,
}

/// A parsed file.
#[derive(Debug)]
struct ParsedFile {
    /// Stamp of the content; `None` after an I/O error, so that the file is read again.
    stamp: Option<Stamp>,
    shape: Shape,
    draft: Option<Arc<Draft>>,
    /// For ranking, if the skill declares no keywords.
    text: Option<Arc<SkillText>>,
    findings: Vec<Finding>,
}

impl SkillSetBuilder {
    /// Builds the skill set of a snapshot; `sibling` is a `config.yaml` next to the folder. Blocks.
    pub(crate) fn build(
        &mut self,
        snapshot: Snapshot,
        sibling: Option<ConfigYaml>,
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
        let (settings, mut findings) = settings(&snapshot, root.as_ref(), sibling, rules);
        findings.extend(snapshot.problems().iter().map(|problem| Finding {
            file: problem.path.clone(),
            severity: if problem.reason.is_deliberate() { Severity::Ignored } else { Severity::Skipped },
            message: problem.reason.to_string(),
        }));
        findings.extend(skills_outside_root(&snapshot, root.as_ref(), rules));
        let in_source =
            |file: &RelPath| root.as_ref().map_or_else(|| Some(file.clone()), |root| root.join(file));
        let read_file = |file: &RelPath, max| {
            in_source(file).ok_or(ReadError::Missing).and_then(|path| snapshot.read(&path, max))
        };
        self.read(&candidates(files.keys(), &HashSet::new()), files, &read_file);
        // A markdown file that is not a skill has no resource folder: files in its sibling folder may be skills.
        let no_skills: HashSet<RelPath> = (self.read.iter().filter(|(_, reading)| reading.draft.is_none()))
            .map(|(file, _)| file.clone())
            .collect();
        if !no_skills.is_empty() {
            self.read(&candidates(files.keys(), &no_skills), files, &read_file);
        }
        let drafts = self.read.values().filter_map(|reading| reading.draft.clone());
        let findings_of_files = self.read.values().flat_map(|reading| &reading.findings);
        let mut index = SkillIndex::new(drafts, files, findings_of_files.chain(&findings));
        index.allow_scripts(&settings.scripts.allow);
        let (agent_skills, further) = AgentSkills::new(&index, files, &mut self.digests, &read_file);
        let agent_skills = match &rules.address {
            Some(folder) => agent_skills.below(folder),
            None => agent_skills,
        };
        index.findings.extend(further);
        index
            .findings
            .sort_by(|one, other| other.severity.cmp(&one.severity).then(one.file.cmp(&other.file)));
        let ranker = Ranker::new(&index, |file| self.read.get(file)?.text.clone());
        SkillSet { index, settings, synced_at: now, ranker, agent_skills, snapshot, root }
    }

    /// Parses new and changed files on all cores, and evicts deleted ones from the cache.
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
        let chunk_size = changed.len().div_ceil(cores).max(1);
        let readings = thread::scope(|scope| {
            let work = |part: &[(&Candidate, &FileMeta)]| -> Vec<_> {
                part.iter()
                    .map(|(candidate, meta)| (candidate.file.clone(), parse_file(candidate, meta, read_file)))
                    .collect()
            };
            let threads: Vec<_> =
                changed.chunks(chunk_size).map(|part| scope.spawn(move || work(part))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|_| {
                tracing::error!("a thread panicked while parsing skills; its files are read again at the next refresh");
                Vec::new()
            })).collect::<Vec<_>>()
        });
        next.extend(readings.into_iter().map(|(file, reading)| (file, Arc::new(reading))));
        self.read = next;
    }
}

fn parse_file(
    candidate: &Candidate,
    meta: &FileMeta,
    read_file: &impl Fn(&RelPath, u64) -> Result<Vec<u8>, ReadError>,
) -> ParsedFile {
    let bytes = read_file(&candidate.file, MAX_MARKDOWN_BYTES);
    let is_final = !matches!(bytes, Err(ReadError::Io(_)));
    let (draft, findings) = match bytes {
        Ok(bytes) => read(candidate, &bytes),
        // Deleted since the listing; the next snapshot reflects it.
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
    let ranked = draft.as_ref().filter(|draft| draft.keywords.is_empty());
    ParsedFile {
        stamp: is_final.then(|| meta.stamp.clone()),
        shape: candidate.shape,
        text: ranked.map(|draft| Arc::new(SkillText::of(draft))),
        draft: draft.map(Arc::new),
        findings,
    }
}

/// The skills folder: as configured; else, in a repository, `skills/` if it exists.
fn root(snapshot: &Snapshot, configured: Option<&RelPath>) -> Option<RelPath> {
    // Auto-detection is for repositories only, recognizable by their commit: the path of a local folder is deliberate.
    if configured.is_some() || snapshot.commit().is_none() {
        return configured.cloned();
    }
    let folder = RelPath::parse("skills").ok()?;
    let has_folder = files_below(snapshot.files(), Some(&folder)).next().is_some();
    has_folder.then_some(folder)
}

/// Findings for Agent Skills outside of the auto-detected folder, which are not served.
fn skills_outside_root(snapshot: &Snapshot, root: Option<&RelPath>, rules: &Rules) -> Vec<Finding> {
    let Some(root) = root.filter(|_| rules.path.is_none()) else { return Vec::new() };
    let skills =
        snapshot.files().keys().filter(|path| path.name() == "SKILL.md" && path.below(root).is_none());
    let message = format!(
        "it is outside {root}/, the folder that is served; to serve another one, set path in [skills]"
    );
    skills
        .map(|path| Finding { file: path.to_string(), severity: Severity::Skipped, message: message.clone() })
        .collect()
}

/// The effective settings, and findings about `config.yaml`.
fn settings(
    snapshot: &Snapshot,
    root: Option<&RelPath>,
    sibling: Option<ConfigYaml>,
    rules: &Rules,
) -> (Settings, Vec<Finding>) {
    let name = RelPath::parse("config.yaml").ok();
    let inside =
        name.as_ref().and_then(|name| root.map_or_else(|| Some(name.clone()), |root| root.join(name)));
    let paths = [inside, name.filter(|_| root.is_some())];
    let in_source =
        paths.into_iter().flatten().find_map(|path| match snapshot.read(&path, MAX_CONFIG_BYTES) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_or(ConfigYaml::Unreadable, ConfigYaml::Text)),
            Err(ReadError::Missing) => None,
            Err(ReadError::TooLarge { .. } | ReadError::Leaves | ReadError::Io(_)) => {
                Some(ConfigYaml::Unreadable)
            }
        });
    let (mut overlay, mut warnings) = match in_source.or(sibling) {
        None => (Overlay::default(), Vec::new()),
        Some(ConfigYaml::Text(text)) => Overlay::from_yaml(&text),
        Some(ConfigYaml::Unreadable) => {
            let message =
                "is larger than 64 KiB or can't be read; it has no effect, and scripts are disabled"
                    .to_owned();
            (Overlay::unreadable(), vec![message])
        }
    };
    let mut settings = Settings::default();
    // A fetched repository is untrusted: it must not decide where the user's tasks are sent.
    let is_fetched = snapshot.commit().is_some();
    match rules.audience {
        Audience::Everyone => {
            settings.scripts.enabled = false;
            settings.scripts.network = NetworkChoice::None;
            warnings.extend(drop_operator_settings(&mut overlay));
        }
        Audience::OnePerson if is_fetched => warnings.extend(drop_endpoint(&mut overlay)),
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

/// Drops the analytics endpoint; analytics can still be disabled.
fn drop_endpoint(overlay: &mut Overlay) -> Option<String> {
    let AnalyticsOverlay { enabled, endpoint } = std::mem::take(&mut overlay.analytics);
    overlay.analytics.enabled = enabled.filter(|enabled| !enabled);
    (enabled == Some(true) || endpoint.is_some_and(|endpoint| !endpoint.is_empty())).then(|| {
        "analytics: a repository can't turn it on or name its endpoint; set ANALYTICS_ENDPOINT, or write \
         [skills.analytics] in lyceum.toml"
            .to_owned()
    })
}

/// Drops settings that only the operator of a shared server may change. A repository can disable scripts and lower
/// limits, nothing more.
fn drop_operator_settings(overlay: &mut Overlay) -> Vec<String> {
    let mut warnings = Vec::new();
    let operator_only = |key: &str| {
        format!("{key}: on a shared server, only lyceum.toml can enable it; it has no effect here")
    };
    if overlay.scripts.enabled == Some(true) {
        overlay.scripts.enabled = None;
        warnings.push(operator_only("scripts.enabled"));
    }
    if std::mem::take(&mut overlay.analytics) != AnalyticsOverlay::default() {
        warnings.push(operator_only("analytics.enabled"));
    }
    let Settings { scripts, assets, .. } = Settings::default();
    let mut cap = |value: &mut Option<u64>, max: u64, key: &str| {
        if value.is_some_and(|value| value > max) {
            *value = None;
            warnings.push(format!(
                "{key}: on a shared server, only lyceum.toml can raise it; it has no effect here"
            ));
        }
    };
    cap(&mut overlay.scripts.timeout_seconds, scripts.timeout_seconds, "scripts.timeout_seconds");
    cap(&mut overlay.assets.max_size_bytes, assets.max_size_bytes, "assets.max_size_bytes");
    if overlay.scripts.max_output_bytes.is_some_and(|bytes| bytes > scripts.max_output_bytes) {
        overlay.scripts.max_output_bytes = None;
        warnings.push("scripts.max_output_bytes: on a shared server, only lyceum.toml can raise it; it has no effect here".to_owned());
    }
    if overlay.scripts.runners.take().is_some() {
        let message =
            "scripts.runners: on a shared server, only lyceum.toml can set runners; it has no effect here";
        warnings.push(message.to_owned());
    }
    let is_default = |extension: &String| scripts.allowed_extensions.contains(extension);
    if let Some(extensions) = &mut overlay.scripts.allowed_extensions
        && !extensions.iter().all(is_default)
    {
        extensions.retain(is_default);
        warnings.push("scripts.allowed_extensions: on a shared server, only lyceum.toml can add extensions; the additional ones have no effect here".to_owned());
    }
    warnings
}
