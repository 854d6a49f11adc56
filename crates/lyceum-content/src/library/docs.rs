//! The index of docs: pages by section, each with its description.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_model::RelPath;
use serde::Serialize;

use super::{Files, IndexFinding, below, fields, folders};

/// Where docs are, if the configuration does not say: the first of these folders that holds any.
const FOLDERS: [&str; 5] = ["src/content/docs", "docs", "content/docs", "documentation", "content"];

/// The page of a section.
const INDEX: &str = "index";

/// All docs of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocsIndex {
    /// The sections.
    pub tree: DocsNode,
    /// The file of each page, by its keys in the tree, joined by `/`.
    pub pages: BTreeMap<String, RelPath>,
    /// The folder of the docs; the whole source if `None`.
    pub folder: Option<RelPath>,
    /// Files with unusable frontmatter.
    pub findings: Vec<IndexFinding>,
}

/// A section, or the description of a page, as `docs-index.json` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DocsNode {
    /// A section: pages and sections by name.
    Section(BTreeMap<String, Self>),
    /// A page, with its description.
    Page(Option<String>),
}

impl DocsIndex {
    /// Lists the pages below a folder, or wherever they usually are.
    pub fn build(files: &Files<'_>, folder: Option<&RelPath>) -> Self {
        let holds = |folder: &&&str| {
            files
                .paths
                .iter()
                .any(|path| extension(path).is_some() && below(path.as_str(), Some(folder)).is_some())
        };
        let folder = match folder {
            Some(folder) => Some(folder.clone()),
            None => FOLDERS.iter().find(holds).and_then(|folder| RelPath::parse(folder).ok()),
        };
        let root = folder.as_ref().map(RelPath::as_str);
        let is_hidden = |rest: &str| rest.split('/').any(|part| part.starts_with('.'));
        let mut by_key: BTreeMap<String, &RelPath> = BTreeMap::new();
        for path in &files.paths {
            let Some(rest) = below(path.as_str(), root).filter(|rest| !is_hidden(rest)) else { continue };
            if let Some(key) = extension(path).and_then(|extension| rest.strip_suffix(extension)) {
                // `a.md` sorts before `a.mdx`, and is the one that is read.
                by_key.entry(key.to_owned()).or_insert(path);
            }
        }
        let sections: BTreeSet<String> =
            by_key.keys().flat_map(|key| folders(key).map(str::to_owned)).collect();
        let mut index = Self { folder, ..Self::default() };
        for (key, path) in &by_key {
            // `guide.md` beside `guide/` is the page of that section, unless it has an index.
            let key = if sections.contains(key) { format!("{key}/{INDEX}") } else { key.clone() };
            if path != by_key.get(&key).unwrap_or(path) {
                continue;
            }
            let fields = fields::of_file(files, path, &mut index.findings);
            let description =
                fields::text(&fields, &["description"]).or_else(|| fields::text(&fields, &["title"]));
            index.tree.insert(&key, description);
            index.pages.insert(key, (*path).clone());
        }
        index
    }

    /// The file of a page, by its keys joined by `/`; of a section, its index.
    pub fn page(&self, keys: &str) -> Option<&RelPath> {
        let of_section = if keys.is_empty() { INDEX.to_owned() } else { format!("{keys}/{INDEX}") };
        self.pages.get(keys).or_else(|| self.pages.get(&of_section))
    }

    /// The keys of all sections, joined by `/`.
    pub fn sections(&self) -> BTreeSet<&str> {
        self.pages.keys().flat_map(|keys| folders(keys)).collect()
    }

    /// The description of a page, by its keys joined by `/`.
    pub fn description(&self, keys: &str) -> Option<&str> {
        let keys: Vec<String> = keys.split('/').map(str::to_owned).collect();
        match self.tree.at(&keys)? {
            DocsNode::Page(description) => description.as_deref(),
            DocsNode::Section(_) => None,
        }
    }
}

impl DocsNode {
    /// The section or page at that path.
    pub fn at(&self, keys: &[String]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| match node {
            Self::Section(children) => children.get(key),
            Self::Page(_) => None,
        })
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        match self {
            Self::Section(children) => children.values().map(Self::pages).sum(),
            Self::Page(_) => 1,
        }
    }

    /// The tree with at most about `max` entries: deeper sections are replaced by `summary` of their keys and size.
    pub fn within(&self, max: usize, summary: &impl Fn(&[String], usize) -> String) -> Self {
        let mut depth = 1;
        while self.entries(depth + 1) <= max && self.entries(depth + 1) > self.entries(depth) {
            depth += 1;
        }
        self.cut(depth, &mut Vec::new(), summary)
    }

    /// Number of entries down to a depth.
    fn entries(&self, depth: usize) -> usize {
        match self {
            Self::Section(children) if depth > 0 => {
                children.values().map(|child| 1 + child.entries(depth - 1)).sum()
            }
            Self::Section(_) | Self::Page(_) => 0,
        }
    }

    fn cut(
        &self,
        depth: usize,
        keys: &mut Vec<String>,
        summary: &impl Fn(&[String], usize) -> String,
    ) -> Self {
        match self {
            Self::Page(description) => Self::Page(description.clone()),
            Self::Section(_) if depth == 0 => Self::Page(Some(summary(keys, self.pages()))),
            Self::Section(children) => {
                let cut = children.iter().map(|(key, child)| {
                    keys.push(key.clone());
                    let child = child.cut(depth - 1, keys, summary);
                    keys.pop();
                    (key.clone(), child)
                });
                Self::Section(cut.collect())
            }
        }
    }

    fn insert(&mut self, key: &str, description: Option<String>) {
        let Self::Section(children) = self else { return };
        match key.split_once('/') {
            None => drop(children.insert(key.to_owned(), Self::Page(description))),
            Some((section, rest)) => {
                children.entry(section.to_owned()).or_default().insert(rest, description);
            }
        }
    }
}

impl Default for DocsNode {
    fn default() -> Self {
        Self::Section(BTreeMap::new())
    }
}

/// The extension of a page.
fn extension(path: &RelPath) -> Option<&'static str> {
    [".md", ".mdx"].into_iter().find(|extension| path.extension() == *extension)
}
