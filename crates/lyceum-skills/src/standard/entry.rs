//! A skill as the extension lists it.

use std::sync::Arc;

use lyceum_model::RelPath;
use serde::Serialize;
use serde_json::{Map, Value};

use super::address;
use crate::skill_set::{AgentSkills, Entry};

/// A skill with its frontmatter and the digest of every file.
#[derive(Debug, Serialize)]
pub(super) struct WireSkill {
    pub uri: String,
    pub frontmatter: Map<String, Value>,
    pub resources: Vec<WireFile>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireFile {
    uri: String,
    digest: Arc<str>,
    size: u64,
}

pub(super) fn wire(agent_skills: &AgentSkills, folder: &RelPath, entry: &Entry) -> WireSkill {
    let file = |path: &RelPath| {
        let file = agent_skills.files.get(path)?;
        Some(WireFile { uri: address::of(path), digest: file.digest.clone(), size: file.size })
    };
    WireSkill {
        uri: format!("{}/SKILL.md", address::of(folder)),
        frontmatter: entry.standard.frontmatter.clone(),
        resources: entry.files.iter().filter_map(file).collect(),
    }
}
