//! The skill set: what the skills service serves at one moment, all of one snapshot of the source.

mod agent_skills;
mod build;

use jiff::Timestamp;
use lyceum_content::{
    files_below,
    skill::{Finding, Settings, SkillIndex},
};
use lyceum_model::RelPath;
use lyceum_source::{ReadError, Reason, Snapshot};

pub(crate) use agent_skills::{AgentSkillFile, AgentSkills, Entry};
pub use build::{Audience, Rules};
pub(crate) use build::{MAX_CONFIG_BYTES, SiblingConfig, SkillSetBuilder};

/// Everything that is served, of one snapshot.
#[derive(Debug)]
pub struct SkillSet {
    /// The skills.
    pub index: SkillIndex,
    /// How they are served: the defaults, `config.yaml` over them, the server's own configuration over both.
    pub settings: Settings,
    /// When the snapshot was taken.
    pub synced_at: Timestamp,
    pub(crate) agent_skills: AgentSkills,
    pub(crate) snapshot: Snapshot,
    root: Option<RelPath>,
}

impl SkillSet {
    /// The commit that is served, if the source is a repository.
    pub fn commit(&self) -> Option<&str> {
        self.snapshot.commit()
    }

    /// What authors would want to know, the worst first.
    pub fn findings(&self) -> &[Finding] {
        &self.index.findings
    }

    /// The addresses of resources that are there as before, but say something else.
    pub fn changed_resources(&self, before: &Self) -> Vec<String> {
        let changed = self.agent_skills.files.iter().filter(|(path, file)| {
            before.agent_skills.files.get(*path).is_some_and(|before| before.digest != file.digest)
        });
        changed.map(|(path, _)| crate::standard::address::of(path)).collect()
    }

    /// Whether the snapshot has a file of the skills' folder.
    pub(crate) fn has(&self, file: &RelPath) -> bool {
        self.in_source(file).is_some_and(|path| self.snapshot.files().contains_key(&path))
    }

    /// Why a file of the skills' folder, or a folder that it is in, is no part of the snapshot, where that is known.
    pub(crate) fn left_out(&self, file: &RelPath) -> Option<&Reason> {
        let path = self.in_source(file)?;
        let stands_before = |problem: &str| {
            path.as_str().strip_prefix(problem).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let problem = self.snapshot.problems().iter().find(|problem| stands_before(&problem.path))?;
        Some(&problem.reason)
    }

    /// Where a file of the skills' folder is in the source.
    pub fn in_source(&self, file: &RelPath) -> Option<RelPath> {
        self.root.as_ref().map_or_else(|| Some(file.clone()), |root| root.join(file))
    }

    /// Reads a file of the skills' folder. Blocks.
    pub(crate) fn read(&self, file: &RelPath, most: u64) -> Result<Vec<u8>, ReadError> {
        self.in_source(file).ok_or(ReadError::Missing).and_then(|path| self.snapshot.read(&path, most))
    }

    /// The text of a file of the skills' folder; nothing for one that is larger, gone or no text. Blocks.
    pub fn text(&self, file: &RelPath, most: u64) -> Option<String> {
        String::from_utf8(self.read(file, most).ok()?).ok()
    }

    /// The files below a folder of the skills, from it on, with their sizes.
    pub(crate) fn files_below(&self, folder: Option<&RelPath>) -> Vec<(RelPath, u64)> {
        let place = match (&self.root, folder) {
            (Some(root), Some(folder)) => root.join(folder),
            (root, folder) => root.as_ref().or(folder).cloned(),
        };
        let files = files_below(self.snapshot.files(), place.as_ref());
        let below = files.filter_map(|(path, meta)| Some((in_root(path, place.as_ref())?, meta.size)));
        below.collect()
    }
}

/// A path of the source as one of the skills' folder, if it is in it.
fn in_root(path: &RelPath, root: Option<&RelPath>) -> Option<RelPath> {
    root.map_or_else(|| Some(path.clone()), |root| path.below(root))
}
