//! The indexes of a library: which skills, agent profiles and docs a repository has, from their frontmatter.
//!
//! A pure function of the files of one source. Every name that an index lists can be passed back: names are unique, and
//! pass [`parse_parameter`]. A file without usable frontmatter is listed by its file name, and never fails the build.

mod agents;
mod docs;
mod export;
mod fields;
mod names;
mod skills;

use lyceum_model::RelPath;

pub use agents::{AgentEntry, AgentsIndex};
pub use docs::{DocsIndex, DocsNode};
pub use export::{AgentFormat, agent_id};
pub use names::{InvalidParameter, parse_parameter};
pub use skills::{SkillEntry, SkillsIndex};

/// A file whose frontmatter can't be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFinding {
    /// The file.
    pub file: RelPath,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// The files of a source, in order, and how to read one.
pub struct Files<'a> {
    /// All paths, sorted.
    pub paths: Vec<&'a RelPath>,
    /// Reads a file as text; `None` if it is unreadable, too large or not UTF-8.
    pub read: &'a dyn Fn(&RelPath) -> Option<String>,
    /// The link to a file at its commit.
    pub link: &'a dyn Fn(&RelPath) -> Option<String>,
}

impl Files<'_> {
    /// The files below a folder, or all of them. A range query: the paths are sorted.
    fn below(&self, folder: Option<&str>) -> impl Iterator<Item = &RelPath> {
        let start = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
        let at = self.paths.partition_point(|path| path.as_str() < start.as_str());
        let rest = self.paths.get(at..).unwrap_or_default();
        rest.iter().copied().take_while(move |path| path.as_str().starts_with(&start))
    }

    /// Whether some file is below a folder.
    fn has_folder(&self, folder: &str) -> bool {
        self.below(Some(folder)).next().is_some()
    }
}

/// The folders above a file, nearest first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |folder| parent(folder))
}

/// The folder of a path, unless it is the root.
fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// The part of a path below a folder, or all of it for the root; `None` if it is elsewhere.
fn below<'a>(path: &'a str, folder: Option<&str>) -> Option<&'a str> {
    match folder {
        None => Some(path),
        Some(folder) => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests;
