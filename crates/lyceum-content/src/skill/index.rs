//! The index: all skills of a source at one moment, with their parents and files.
//!
//! Built whole and never changed: readers hold one, a rebuild makes the next.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Deref,
    sync::Arc,
};

use lyceum_model::RelPath;

use super::{
    Asset, DeclaredFile, Draft, Execution, Finding, Inherited, Script, Severity,
    discovery::SKILL_FILE,
    files, inheritance, lineage,
    matching::{Query, Vocabulary},
};
use crate::files_below;

/// A skill: what its file says, with what its surroundings make of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its assets; none where it has no folder.
    pub assets: Vec<Asset>,
    /// Its scripts; none where it has no folder.
    pub scripts: Vec<Script>,
    /// The folder of its files, where there is one; nothing in it for a skill that is the whole source.
    pub folder: Option<Option<RelPath>>,
    draft: Arc<Draft>,
    /// Its parent, by its place in the index.
    pub(super) parent: Option<usize>,
}

impl Deref for Skill {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.draft
    }
}

impl Skill {
    /// Where a file of the skill's folder is, from the folder of the skills on.
    pub fn place_of(&self, file: &RelPath) -> Option<RelPath> {
        match self.folder.as_ref()? {
            Some(folder) => folder.join(file),
            None => Some(file.clone()),
        }
    }
}

/// All skills at one moment.
#[derive(Debug)]
pub struct SkillIndex {
    /// In the order of their paths, so that one is found by its path.
    skills: Vec<Skill>,
    children: Vec<Vec<usize>>,
    vocabulary: Vocabulary,
    /// What authors would want to know.
    pub findings: Vec<Finding>,
}

impl SkillIndex {
    /// Puts drafts together. `files` are all files of the source; `findings` those of reading the drafts.
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
        let places: HashMap<&str, usize> =
            skills.iter().enumerate().map(|(at, skill)| (skill.path.as_str(), at)).collect();
        let parent =
            |skill: &Skill| lineage::nearest_parent(skill.path.as_str(), |path| places.get(path).copied());
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

    /// All skills, in the order of their paths.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The skill of that path.
    pub fn get(&self, path: &str) -> Option<&Skill> {
        self.place(path).and_then(|at| self.skills.get(at))
    }

    /// Looks a text up, once for everything that is then asked of it.
    pub fn query(&self, context: &str) -> Query<'_> {
        self.vocabulary.query(context)
    }

    /// The place of a skill in the index.
    pub fn place_of(&self, skill: &Skill) -> Option<usize> {
        self.place(skill.path.as_str())
    }

    /// What a skill says, with its parents' words before it if it inherits; nothing where that is more than `most` bytes.
    pub fn content(&self, skill: &Skill, most: usize) -> Option<String> {
        let chain = self.chain(skill);
        let size: usize = chain.iter().map(|skill| skill.body.len()).sum();
        (size <= most).then(|| inheritance::content(skill, &chain))
    }

    /// The assets that a skill has from its parents.
    pub fn inherited_assets(&self, skill: &Skill) -> Vec<Inherited<Asset>> {
        files::inherited(&self.chain(skill), |skill| &skill.assets, |asset| &asset.file)
    }

    /// The scripts that a skill has from its parents.
    pub fn inherited_scripts(&self, skill: &Skill) -> Vec<Inherited<Script>> {
        files::inherited(&self.chain(skill), |skill| &skill.scripts, |script| &script.file)
    }

    /// Looks a declared file up in a skill, then in those it inherits from.
    pub fn find_file(&self, skill: &Skill, file: &RelPath) -> Option<DeclaredFile> {
        files::find(&self.chain(skill), file)
    }

    /// Looks a declared script up in a skill, then in those it inherits from: the script, the folder of its skill, and
    /// where it is.
    pub fn find_script(&self, skill: &Skill, file: &RelPath) -> Option<(Script, Option<RelPath>, RelPath)> {
        files::find_script(&self.chain(skill), file)
    }

    pub(super) fn place(&self, path: &str) -> Option<usize> {
        place(&self.skills, path)
    }

    pub(super) fn children_of(&self, at: usize) -> &[usize] {
        self.children.get(at).map(Vec::as_slice).unwrap_or_default()
    }

    /// A skill and, if it inherits, all that stand above it; the most general first.
    fn chain<'a>(&'a self, skill: &'a Skill) -> Vec<&'a Skill> {
        let parent = |skill: &&Skill| skill.parent.and_then(|at| self.skills.get(at));
        let reach = if skill.inherit { usize::MAX } else { 1 };
        let mut chain: Vec<&Skill> = std::iter::successors(Some(skill), parent).take(reach).collect();
        chain.reverse();
        chain
    }
}

/// Where the skill of that path is among skills in the order of their paths.
fn place(skills: &[Skill], path: &str) -> Option<usize> {
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

/// Every file of a standard skill's folder belongs to it, whether or not it is declared.
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
        let place = file.as_str().split_once('/').map_or("", |(first, _)| first);
        match place {
            "scripts" => scripts.push(Script {
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
