//! Content of a skill, with the content of its ancestors.

use super::{
    Skill,
    lineage::{INDEX, ROOT},
};

/// Concatenates the content of a chain of skills, root first. A skill that doesn't inherit is returned as written.
pub(super) fn content(skill: &Skill, chain: &[&Skill]) -> String {
    if !skill.inherit {
        return skill.body.clone();
    }
    let sections = chain.iter().map(|skill| {
        format!("=== {} (from {}) ===\n\n{}", heading(skill.path.as_str()), skill.file, skill.body)
    });
    sections.collect::<Vec<_>>().join("\n\n")
}

/// `ui/react/auth` → `UI > REACT > AUTH`.
fn heading(path: &str) -> String {
    if path == ROOT {
        return "GLOBAL RULES".to_owned();
    }
    let segments = path.split('/').filter(|segment| *segment != INDEX).map(|segment| {
        let words: Vec<&str> = segment.split_whitespace().collect();
        words.join(" ").to_uppercase()
    });
    let heading = segments.collect::<Vec<_>>().join(" > ");
    if heading.is_empty() { "INDEX".to_owned() } else { heading }
}
