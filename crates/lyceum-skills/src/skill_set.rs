//! The skill set: everything the skills service serves, from one snapshot of the source.

mod agent_skills;
mod build;

use jiff::Timestamp;
use lyceum_content::{
    files_below,
    skill::{Finding, Settings, Skill, SkillIndex},
};
use lyceum_model::RelPath;
use lyceum_source::{ReadError, Reason, Snapshot};

use crate::ranking::{Ranker, SkillText};

pub(crate) use agent_skills::{AgentSkillFile, AgentSkills, Entry};
pub use build::{Audience, Rules};
pub(crate) use build::{ConfigYaml, MAX_CONFIG_BYTES, SkillSetBuilder};

/// Everything that is served, from one snapshot.
#[derive(Debug)]
pub struct SkillSet {
    /// The skills.
    pub index: SkillIndex,
    /// Settings: the defaults, overridden by `config.yaml`, overridden by the server's configuration.
    pub settings: Settings,
    /// When the snapshot was taken.
    pub synced_at: Timestamp,
    /// Ranks the skills without keywords.
    pub(crate) ranker: Ranker,
    pub(crate) agent_skills: AgentSkills,
    pub(crate) snapshot: Snapshot,
    root: Option<RelPath>,
}

impl SkillSet {
    /// The commit, if the source is a repository.
    pub fn commit(&self) -> Option<&str> {
        self.snapshot.commit()
    }

    /// The text of a skill, if it is ranked.
    pub(crate) fn text_of(&self, skill: &Skill) -> Option<&SkillText> {
        self.ranker.text_of(self.index.place_of(skill)?)
    }

    /// Diagnostics for authors, worst first.
    pub fn findings(&self) -> &[Finding] {
        &self.index.findings
    }

    /// URIs of resources whose content changed.
    pub fn changed_resources(&self, before: &Self) -> Vec<String> {
        let changed = self.agent_skills.files.iter().filter(|(path, file)| {
            before.agent_skills.files.get(*path).is_some_and(|before| before.digest != file.digest)
        });
        changed.map(|(path, _)| crate::standard::address::of(path)).collect()
    }

    /// Whether the snapshot contains a file of the skills folder.
    pub(crate) fn has(&self, file: &RelPath) -> bool {
        self.in_source(file).is_some_and(|path| self.snapshot.files().contains_key(&path))
    }

    /// Why a file of the skills folder, or one of its parents, is excluded from the snapshot, if known.
    pub(crate) fn left_out(&self, file: &RelPath) -> Option<&Reason> {
        let path = self.in_source(file)?;
        let covers = |problem: &str| {
            path.as_str().strip_prefix(problem).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let problem = self.snapshot.problems().iter().find(|problem| covers(&problem.path))?;
        Some(&problem.reason)
    }

    /// Path in the source of a file in the skills folder.
    pub fn in_source(&self, file: &RelPath) -> Option<RelPath> {
        self.root.as_ref().map_or_else(|| Some(file.clone()), |root| root.join(file))
    }

    /// Reads a file of the skills folder. Blocks.
    pub(crate) fn read(&self, file: &RelPath, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
        self.in_source(file).ok_or(ReadError::Missing).and_then(|path| self.snapshot.read(&path, max_bytes))
    }

    /// Reads a text file of the skills folder; `None` if it is too large, missing or not UTF-8. Blocks.
    pub fn text(&self, file: &RelPath, max_bytes: u64) -> Option<String> {
        String::from_utf8(self.read(file, max_bytes).ok()?).ok()
    }

    /// Files below a folder of the skills folder, relative to it, with their sizes.
    pub(crate) fn files_below(&self, folder: Option<&RelPath>) -> Vec<(RelPath, u64)> {
        let base = match (&self.root, folder) {
            (Some(root), Some(folder)) => root.join(folder),
            (root, folder) => root.as_ref().or(folder).cloned(),
        };
        let files = files_below(self.snapshot.files(), base.as_ref());
        let below = files.filter_map(|(path, meta)| Some((in_root(path, base.as_ref())?, meta.size)));
        below.collect()
    }
}

/// Converts a path of the source to one relative to the skills folder; `None` if it is outside.
fn in_root(path: &RelPath, root: Option<&RelPath>) -> Option<RelPath> {
    root.map_or_else(|| Some(path.clone()), |root| path.below(root))
}
