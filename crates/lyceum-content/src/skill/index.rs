//! The index: a snapshot of all skills of a source, with their parents and files.
//!
//! Immutable: readers hold one, a rebuild creates the next.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Deref,
    sync::Arc,
};

use lyceum_model::RelPath;

use super::{
    Asset, DeclaredFile, Draft, Execution, Finding, Glob, Inherited, Script, Severity,
    discovery::SKILL_FILE,
    files, inheritance, lineage,
    matching::{Query, Vocabulary},
};
use crate::files_below;

/// A skill: its parsed file, with its parent and files.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its assets; empty without a folder.
    pub assets: Vec<Asset>,
    /// Its scripts; empty without a folder.
    pub scripts: Vec<Script>,
    /// The folder of its files, if any; `Some(None)` if the skill is the whole source.
    pub folder: Option<Option<RelPath>>,
    draft: Arc<Draft>,
    /// Its parent, by position in the index.
    pub(super) parent: Option<usize>,
}

impl Deref for Skill {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.draft
    }
}

impl Skill {
    /// Path of a file in the skill's folder, relative to the skills folder.
    pub fn path_of(&self, file: &RelPath) -> Option<RelPath> {
        match self.folder.as_ref()? {
            Some(folder) => folder.join(file),
            None => Some(file.clone()),
        }
    }
}

/// A snapshot of all skills.
#[derive(Debug)]
pub struct SkillIndex {
    /// Sorted by path, for binary search.
    skills: Vec<Skill>,
    children: Vec<Vec<usize>>,
    vocabulary: Vocabulary,
    /// Diagnostics for authors.
    pub findings: Vec<Finding>,
}

impl SkillIndex {
    /// Builds the index. `files` are all files of the source; `findings` come from parsing the drafts.
    pub fn new<'a>(
        drafts: impl Iterator<Item = Arc<Draft>>,
        files: &BTreeMap<RelPath, impl Sized>,
        findings: impl Iterator<Item = &'a Finding>,
    ) -> Self {
        let mut findings: Vec<Finding> = findings.cloned().collect();
        let mut drafts: Vec<Arc<Draft>> = drafts.collect();
        drafts.sort_by(|one, other| one.path.cmp(&other.path).then(one.file.cmp(&other.file)));
        drafts.dedup_by(|later, first| {
            let same = later.path == first.path;
            if same {
                let message = format!(
                    "{} has the same path {:?}; rename one of the two",
                    first.file,
                    first.path.as_str()
                );
                findings.push(Finding { file: later.file.to_string(), severity: Severity::Skipped, message });
            }
            same
        });
        let mut skills: Vec<Skill> = drafts.into_iter().map(|draft| skill(draft, files)).collect();
        let positions: HashMap<&str, usize> =
            skills.iter().enumerate().map(|(at, skill)| (skill.path.as_str(), at)).collect();
        let parent =
            |skill: &Skill| lineage::nearest_parent(skill.path.as_str(), |path| positions.get(path).copied());
        let parents: Vec<Option<usize>> = skills.iter().map(parent).collect();
        let mut children = vec![Vec::new(); skills.len()];
        for (at, (skill, parent)) in skills.iter_mut().zip(parents).enumerate() {
            skill.parent = parent;
            if let Some(siblings) = parent.and_then(|parent| children.get_mut(parent)) {
                siblings.push(at);
            }
        }
        let vocabulary =
            Vocabulary::new(skills.iter().map(|skill| (skill.keywords.as_slice(), skill.priority)));
        findings.sort_by(|one, other| one.file.cmp(&other.file));
        Self { skills, children, vocabulary, findings }
    }

    /// Lets the server run scripts of Agent Skills whose paths, relative to the skills folder, match a glob.
    pub fn allow_scripts(&mut self, allowed: &[Glob]) {
        for skill in self.skills.iter_mut().filter(|skill| skill.standard.is_some()) {
            let folder = skill.folder.clone().flatten();
            for script in &mut skill.scripts {
                let path =
                    folder.as_ref().map_or_else(|| Some(script.file.clone()), |at| at.join(&script.file));
                if path.is_some_and(|path| allowed.iter().any(|glob| glob.matches(path.as_str()))) {
                    script.execution = Execution::Server;
                }
            }
        }
    }

    /// All skills, sorted by path.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Finds a skill by path.
    pub fn get(&self, path: &str) -> Option<&Skill> {
        self.position(path).and_then(|at| self.skills.get(at))
    }

    /// Matches a text against all keywords, once for all methods of [`Query`].
    pub fn query(&self, context: &str) -> Query<'_> {
        self.vocabulary.query(context)
    }

    /// Position of a skill in the index.
    pub fn place_of(&self, skill: &Skill) -> Option<usize> {
        self.position(skill.path.as_str())
    }

    /// Content of a skill, preceded by its ancestors' content if it inherits; `None` if larger than `max_bytes`.
    pub fn content(&self, skill: &Skill, max_bytes: usize) -> Option<String> {
        let chain = self.chain(skill);
        let size: usize = chain.iter().map(|skill| skill.body.len()).sum();
        (size <= max_bytes).then(|| inheritance::content(skill, &chain))
    }

    /// Assets that a skill inherits from its ancestors.
    pub fn inherited_assets(&self, skill: &Skill) -> Vec<Inherited<Asset>> {
        files::inherited(&self.chain(skill), |skill| &skill.assets, |asset| &asset.file)
    }

    /// Scripts that a skill inherits from its ancestors.
    pub fn inherited_scripts(&self, skill: &Skill) -> Vec<Inherited<Script>> {
        files::inherited(&self.chain(skill), |skill| &skill.scripts, |script| &script.file)
    }

    /// Finds a declared file in a skill, then in its ancestors.
    pub fn find_file(&self, skill: &Skill, file: &RelPath) -> Option<DeclaredFile> {
        files::find(&self.chain(skill), file)
    }

    /// Finds a declared script in a skill, then in its ancestors: the script, the folder of its skill, and its path.
    pub fn find_script(&self, skill: &Skill, file: &RelPath) -> Option<(Script, Option<RelPath>, RelPath)> {
        files::find_script(&self.chain(skill), file)
    }

    pub(super) fn position(&self, path: &str) -> Option<usize> {
        position(&self.skills, path)
    }

    pub(super) fn children_of(&self, at: usize) -> &[usize] {
        self.children.get(at).map(Vec::as_slice).unwrap_or_default()
    }

    /// A skill and, if it inherits, its ancestors; root first.
    fn chain<'a>(&'a self, skill: &'a Skill) -> Vec<&'a Skill> {
        let parent = |skill: &&Skill| skill.parent.and_then(|at| self.skills.get(at));
        let max_length = if skill.inherit { usize::MAX } else { 1 };
        let mut chain: Vec<&Skill> = std::iter::successors(Some(skill), parent).take(max_length).collect();
        chain.reverse();
        chain
    }
}

fn position(skills: &[Skill], path: &str) -> Option<usize> {
    skills.binary_search_by(|skill| skill.path.as_str().cmp(path)).ok()
}

fn skill(draft: Arc<Draft>, files: &BTreeMap<RelPath, impl Sized>) -> Skill {
    let folder = match &draft.standard {
        Some(_) => Some(draft.file.parent()),
        None => Some(draft.path.clone())
            .filter(|folder| files_below(files, Some(folder)).next().is_some())
            .map(Some),
    };
    let (mut assets, mut scripts) = match &folder {
        Some(_) => (draft.declared_assets.clone(), draft.declared_scripts.clone()),
        None => (Vec::new(), Vec::new()),
    };
    if let (Some(_), Some(folder)) = (&draft.standard, &folder) {
        add_undeclared(folder.as_ref(), files, &mut assets, &mut scripts);
    }
    Skill { assets, scripts, folder, draft, parent: None }
}

/// Adds the undeclared files of a standard skill: every file in its folder belongs to it.
fn add_undeclared(
    folder: Option<&RelPath>,
    files: &BTreeMap<RelPath, impl Sized>,
    assets: &mut Vec<Asset>,
    scripts: &mut Vec<Script>,
) {
    let undeclared: Vec<RelPath> = files_below(files, folder)
        .filter_map(|(file, _)| folder.map_or_else(|| Some(file.clone()), |folder| file.below(folder)))
        .filter(|file| file.as_str() != SKILL_FILE)
        .filter(|file| {
            !assets.iter().any(|asset| asset.file == *file)
                && !scripts.iter().any(|script| script.file == *file)
        })
        .take(super::MAX_SKILL_FILES)
        .collect();
    for file in undeclared {
        let top_folder = file.as_str().split_once('/').map_or("", |(first, _)| first);
        match top_folder {
            "scripts" if !files::is_data(&file) => scripts.push(Script {
                file,
                description: String::new(),
                execution: Execution::Claude,
                args: Vec::new(),
                network: false,
            }),
            "references" => {
                assets.push(Asset { file, description: String::new(), kind: "reference".to_owned() });
            }
            _ => assets.push(Asset { file, description: String::new(), kind: "other".to_owned() }),
        }
    }
}
