//! Which files of a listing are skills.

use std::collections::HashSet;

use lyceum_model::RelPath;

use super::lineage::INDEX;

/// The file that makes a folder a skill of the standard.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// A file that may be a skill, and in which form.
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
    /// A markdown file with keywords; its files are in the folder of the same name beside it.
    Document,
    /// A folder of the Agent Skills standard; all its files belong to it.
    Folder,
}

/// The files that may be skills, in the order of the paths. What belongs to a skill is not one itself, but for a
/// `SKILL.md` further down, which the standard allows. `no_skills` are markdown files that turned out to be none, so that
/// nothing belongs to them.
pub fn candidates<'a>(
    paths: impl Iterator<Item = &'a RelPath> + Clone,
    no_skills: &HashSet<RelPath>,
) -> Vec<Candidate> {
    let markdown = paths.filter(|path| path.extension() == ".md");
    let documents: HashSet<&str> = (markdown.clone().filter(|path| !no_skills.contains(*path)))
        .filter_map(|path| path.as_str().strip_suffix(".md"))
        .collect();
    let is_skill_folder = |folder: &str| documents.contains(format!("{folder}/SKILL").as_str());
    // `auth/` beside `auth.md` holds the files of that skill, unless it is a category with skills of its own.
    let is_resource_folder = |folder: &str| {
        documents.contains(folder) && !documents.contains(format!("{folder}/{INDEX}").as_str())
    };
    let belongs = |path: &RelPath| {
        folders(path.as_str()).any(|folder| is_skill_folder(folder) || is_resource_folder(folder))
    };
    let shape = |path: &RelPath| match path.name() {
        SKILL_FILE => Some(Shape::Folder),
        _ if documents.contains("SKILL") || belongs(path) => None,
        _ => Some(Shape::Document),
    };
    markdown.filter_map(|path| Some(Candidate { file: path.clone(), shape: shape(path)? })).collect()
}

/// The folders that a path is in, nearest first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/').map(|(folder, _)| folder), |folder| {
        folder.rsplit_once('/').map(|(above, _)| above)
    })
}
