//! Finds the skills in a file listing.

use std::collections::HashSet;

use lyceum_model::RelPath;

use super::lineage::INDEX;

/// The file that makes a folder an Agent Skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// A file that may be a skill, and its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub file: RelPath,
    /// The form.
    pub shape: Shape,
}

/// The two forms of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A markdown file with keywords; its files are in the sibling folder of the same name.
    Document,
    /// A folder of the Agent Skills standard; all its files belong to it.
    Folder,
}

/// Finds the files that may be skills, in path order. A file that belongs to a skill is not a candidate, except a
/// nested `SKILL.md`, which the standard allows. `no_skills` are markdown files that failed to parse as skills; their
/// sibling folders are not resource folders.
pub fn candidates<'a>(
    paths: impl Iterator<Item = &'a RelPath>,
    no_skills: &HashSet<RelPath>,
) -> Vec<Candidate> {
    let markdown: Vec<&RelPath> = paths.filter(|path| path.extension() == ".md").collect();
    let documents: HashSet<&str> = (markdown.iter().filter(|path| !no_skills.contains(**path)))
        .filter_map(|path| path.as_str().strip_suffix(".md"))
        .collect();
    let folders_with = |name: &str| -> HashSet<&str> {
        documents.iter().filter_map(|document| document.strip_suffix(name)?.strip_suffix('/')).collect()
    };
    let (skill_folders, categories) = (folders_with("SKILL"), folders_with(INDEX));
    // `auth/` next to `auth.md` holds the files of that skill, unless it is a category with skills of its own.
    let is_resource_folder = |folder: &str| documents.contains(folder) && !categories.contains(folder);
    let belongs = |path: &RelPath| {
        folders(path.as_str()).any(|folder| skill_folders.contains(folder) || is_resource_folder(folder))
    };
    let is_one_skill = documents.contains("SKILL");
    let shape = |path: &RelPath| match path.name() {
        SKILL_FILE => Some(Shape::Folder),
        _ if is_one_skill || belongs(path) => None,
        _ => Some(Shape::Document),
    };
    let candidate = |path: &RelPath| Some(Candidate { file: path.clone(), shape: shape(path)? });
    markdown.into_iter().filter_map(candidate).collect()
}

/// Ancestor folders of a path, nearest first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/').map(|(folder, _)| folder), |folder| {
        folder.rsplit_once('/').map(|(above, _)| above)
    })
}
