//! The index of skills: folders with a `SKILL.md`.

use lyceum_model::RelPath;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Files, IndexFinding, below, fields,
    names::{self, Candidates},
    parent,
};

/// The file that makes a folder a skill.
const SKILL_FILE: &str = "SKILL.md";

/// Where skills are, if the configuration does not say: the first of these folders that holds any.
const FOLDERS: [&str; 4] = ["skills", ".claude/skills", ".github/skills", ".agents/skills"];

/// All skills of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillsIndex {
    /// The skills, by path.
    pub entries: Vec<SkillEntry>,
    /// The folder of the skills; the whole source if `None`.
    pub folder: Option<RelPath>,
    /// Files with unusable frontmatter.
    pub findings: Vec<IndexFinding>,
}

/// A skill, as `skills-index.json` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillEntry {
    /// Its name, to get it by.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Hint about its arguments.
    pub argument_hint: Option<String>,
    /// Whether users may invoke it directly.
    pub user_invocable: bool,
    /// Its other files, relative to its folder.
    pub files: Vec<String>,
    /// Path of its `SKILL.md` in the repository.
    #[schemars(with = "String")]
    pub path: RelPath,
    /// Link to it at the commit that is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl SkillsIndex {
    /// Lists the skills below a folder, or wherever they usually are.
    pub fn build(files: &Files<'_>, folder: Option<&RelPath>) -> Self {
        let is_skill = |path: &&RelPath| path.name() == SKILL_FILE;
        let all: Vec<&RelPath> = files.paths.iter().copied().filter(is_skill).collect();
        let holds = |folder: &&&str| all.iter().any(|path| below(path.as_str(), Some(folder)).is_some());
        let folder = match folder {
            Some(folder) => Some(folder.clone()),
            None => FOLDERS.iter().find(holds).and_then(|folder| RelPath::parse(folder).ok()),
        };
        let root = folder.as_ref().map(RelPath::as_str);
        let skills: Vec<&RelPath> =
            all.into_iter().filter(|path| below(path.as_str(), root).is_some()).collect();
        let mut findings = Vec::new();
        let found: Vec<_> =
            skills.iter().map(|path| (path, fields::of_file(files, path, &mut findings))).collect();
        let candidates: Vec<Candidates> = found
            .iter()
            .map(|(path, fields)| {
                let at = below(path.as_str(), root).and_then(parent);
                // The folder of all skills may be a skill itself.
                let at = at.or(root).unwrap_or("skill");
                Candidates {
                    declared: fields::text(fields, &["name"]),
                    stem: at.rsplit('/').next().unwrap_or(at).to_owned(),
                    path: at.to_owned(),
                }
            })
            .collect();
        let names = names::unique(&candidates);
        let entries = found.into_iter().zip(names).map(|((path, fields), name)| SkillEntry {
            name,
            description: fields::text(&fields, &["description"]),
            argument_hint: fields::text(&fields, &["argument-hint", "argumentHint", "argument_hint"]),
            user_invocable: fields::flag(&fields, &["user-invocable", "userInvocable", "user_invocable"])
                .unwrap_or(true),
            files: companions(files, path),
            path: (*path).clone(),
            url: (files.link)(path),
        });
        Self { entries: entries.collect(), folder, findings }
    }

    /// The skill of that name.
    pub fn get(&self, name: &str) -> Option<&SkillEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// The other files of a skill's folder.
fn companions(files: &Files<'_>, skill: &RelPath) -> Vec<String> {
    let folder = parent(skill.as_str());
    let others = files.below(folder).filter(|path| *path != skill);
    others.filter_map(|path| below(path.as_str(), folder)).map(str::to_owned).collect()
}
