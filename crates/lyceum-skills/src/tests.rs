//! Skill sets, and the Agent Skills that clients see.

mod addresses;
mod agent_skills;
mod embedding;
mod ranking;
mod refreshing;
mod skill_sets;

use std::{fs, path::Path, sync::Arc};

use jiff::Timestamp;
use lyceum_content::skill::Overlay;
use lyceum_source::{Folder, Snapshot};
use tempfile::TempDir;

use crate::{Audience, Rules, SkillSet, skill_set::SkillSetBuilder};

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| write(folder.path(), name, text));
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn snapshot(folder: &Path) -> Snapshot {
    Folder::new(folder).snapshot().unwrap()
}

fn rules(audience: Audience) -> Rules {
    Rules { path: None, overlay: Overlay::default(), audience, address: None }
}

/// Builds the skill set of these files, for a single user.
fn skill_set(files: &[(&str, &str)]) -> Arc<SkillSet> {
    let folder = folder(files);
    let rules = rules(Audience::OnePerson);
    Arc::new(SkillSetBuilder::default().build(snapshot(folder.path()), None, &rules, Timestamp::UNIX_EPOCH))
}

/// An Agent Skill.
fn standard(name: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\n---\n# {name}\n")
}

/// A skill document with that keyword.
fn document(keyword: &str) -> String {
    format!("---\nkeywords: [{keyword}]\ndescription: about {keyword}\n---\nRules.\n")
}

fn findings(skill_set: &SkillSet) -> Vec<String> {
    skill_set.findings().iter().map(|finding| format!("{}: {}", finding.file, finding.message)).collect()
}
