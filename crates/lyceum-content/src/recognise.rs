//! Recognises what a repository holds from its file names and a sample of its files: skills, a typed knowledge base, an Obsidian
//! vault, plain docs, agent profiles. A mixed repository is several of these.

use std::collections::{BTreeMap, BTreeSet};

use lyceum_model::RelPath;
use serde_json::{Map, Value};

use crate::{frontmatter, ontology::Ontology};

/// Maximum number of documents to look into.
const SAMPLE_SIZE: usize = 200;

/// A kind of documents is recognised if at least one of this many sampled documents shows it.
const TYPICAL_SHARE: usize = 5;

/// Files about a repository, not of its content.
const META_FILES: [&str; 12] = [
    "readme",
    "changelog",
    "contributing",
    "code_of_conduct",
    "security",
    "license",
    "support",
    "governance",
    "agents",
    "claude",
    "gemini",
    "third_party_notices",
];

/// What a repository holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recognition {
    /// Skills, if there are any.
    pub skills: Option<SkillsFound>,
    /// Documents, if there are any that are not part of a skill.
    pub documents: Option<DocumentsFound>,
}

/// The skills of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillsFound {
    /// Number of skills.
    pub count: usize,
    /// Their form.
    pub form: SkillsForm,
    /// The folder that holds all of them, if it is not the whole repository.
    pub root: Option<RelPath>,
}

/// How skills are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillsForm {
    /// Folders with a `SKILL.md`.
    Folders,
    /// Folders with a `SKILL.md`, in plugins of a marketplace.
    Marketplace,
    /// Markdown files with `keywords`.
    Keywords,
}

/// The documents of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentsFound {
    /// Number of documents.
    pub count: usize,
    /// What they are.
    pub kind: DocumentsKind,
    /// Folders and files that hold skills, to exclude from the documents.
    pub exclude: Vec<RelPath>,
}

/// What documents are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentsKind {
    /// Documents with types of the ontology.
    Typed,
    /// Notes with `[[wikilinks]]`.
    Vault,
    /// Agent profiles: a name, a description and instructions.
    Agents,
    /// Any other markdown.
    Docs,
}

/// Recognises a repository. `read` returns the text of a file.
pub fn recognise<'a>(
    paths: impl Iterator<Item = &'a RelPath>,
    ontology: &Ontology,
    read: impl Fn(&RelPath) -> Option<String>,
) -> Recognition {
    let paths: Vec<&RelPath> = paths.collect();
    let markdown: Vec<&RelPath> = paths.iter().copied().filter(|path| is_markdown(path)).collect();
    let mut skills = skill_folders(&paths, &markdown);
    let mut of_skills: BTreeSet<&RelPath> =
        markdown.iter().copied().filter(|path| skills.holds(path)).collect();
    if of_skills.is_empty() {
        of_skills = with_keywords(&markdown, &read);
        skills.count = of_skills.len();
    }
    let documents: Vec<&RelPath> =
        markdown.iter().copied().filter(|path| !of_skills.contains(path)).collect();
    // A README beside skills is about them; alone it is a document.
    let content: Vec<&RelPath> =
        documents.iter().copied().filter(|path| of_skills.is_empty() || !is_meta(path)).collect();
    let root = match skills.form {
        SkillsForm::Folders | SkillsForm::Marketplace => {
            common_folder(skills.folders.iter().map(|folder| parent(folder)))
        }
        SkillsForm::Keywords => common_folder(of_skills.iter().map(|path| parent(path.as_str()))),
    };
    Recognition {
        skills: skills.found(root),
        documents: (!content.is_empty()).then(|| DocumentsFound {
            count: documents.len(),
            kind: kind_of(&content, ontology, &read),
            exclude: folders_of(&of_skills, &content),
        }),
    }
}

/// Whether a file is markdown that can be served: hidden files are not.
fn is_markdown(path: &RelPath) -> bool {
    let is_hidden = path.as_str().split('/').any(|part| part.starts_with('.'));
    let extensions = [".md", ".mdx", ".markdown"];
    !is_hidden && extensions.iter().any(|extension| path.extension().eq_ignore_ascii_case(extension))
}

/// Whether a file is about the repository or a folder of it.
fn is_meta(path: &RelPath) -> bool {
    let stem = path.name().rsplit_once('.').map_or(path.name(), |(stem, _)| stem).to_lowercase();
    META_FILES.contains(&stem.as_str())
}

/// Skill folders, by their paths; `""` is the root.
struct SkillFolders {
    folders: BTreeSet<String>,
    form: SkillsForm,
    count: usize,
}

fn skill_folders(paths: &[&RelPath], markdown: &[&RelPath]) -> SkillFolders {
    let files = markdown.iter().filter(|path| path.name() == "SKILL.md");
    let folders: BTreeSet<String> = files.map(|path| parent(path.as_str()).to_owned()).collect();
    let is_marketplace = paths.iter().any(|path| path.as_str().ends_with(".claude-plugin/marketplace.json"));
    let has_plugins = folders.iter().any(|folder| folder.starts_with("plugins/"));
    let form = match (folders.is_empty(), is_marketplace || has_plugins) {
        (true, _) => SkillsForm::Keywords,
        (false, true) => SkillsForm::Marketplace,
        (false, false) => SkillsForm::Folders,
    };
    SkillFolders { count: folders.len(), folders, form }
}

impl SkillFolders {
    /// Whether a file is part of a skill folder.
    fn holds(&self, path: &RelPath) -> bool {
        let mut folder = path.as_str();
        while !folder.is_empty() {
            folder = parent(folder);
            if self.folders.contains(folder) {
                return true;
            }
        }
        false
    }

    fn found(self, root: Option<RelPath>) -> Option<SkillsFound> {
        (self.count > 0).then_some(SkillsFound { count: self.count, form: self.form, root })
    }
}

/// Markdown files with `keywords`, if they are most of those in `skills/`, or of all files without such a folder.
fn with_keywords<'a>(
    markdown: &[&'a RelPath],
    read: &impl Fn(&RelPath) -> Option<String>,
) -> BTreeSet<&'a RelPath> {
    let in_skills: Vec<&RelPath> =
        markdown.iter().copied().filter(|path| path.as_str().starts_with("skills/")).collect();
    let candidates = if in_skills.is_empty() { markdown.to_vec() } else { in_skills };
    let candidates: Vec<&RelPath> = candidates.into_iter().filter(|path| !is_meta(path)).collect();
    let has_keywords = |fields: &Map<String, Value>| {
        let keywords = fields.get("keywords").and_then(Value::as_array);
        keywords.is_some_and(|keywords| !keywords.is_empty()) && fields.contains_key("description")
    };
    let shown = sample(&candidates, read).filter(|text| has_keywords(&fields_of(text))).count();
    if shown * 2 > candidates.len().min(SAMPLE_SIZE) {
        candidates.into_iter().collect()
    } else {
        BTreeSet::new()
    }
}

/// What most of a sample of documents are.
fn kind_of(
    documents: &[&RelPath],
    ontology: &Ontology,
    read: &impl Fn(&RelPath) -> Option<String>,
) -> DocumentsKind {
    let is_agent_path = |path: &&&RelPath| {
        let path = path.as_str();
        path.ends_with(".agent.md") || parent(path).rsplit('/').next() == Some("agents")
    };
    if documents.iter().filter(is_agent_path).count() * 2 > documents.len() {
        return DocumentsKind::Agents;
    }
    let (mut typed, mut linked, mut all) = (0, 0, 0);
    for text in sample(documents, read) {
        all += 1;
        let fields = fields_of(&text);
        let is_known = |name: &str| ontology.get(name).is_some_and(|known| known.parent.is_some());
        typed += usize::from(fields.get("type").and_then(Value::as_str).is_some_and(is_known));
        linked += usize::from(text.contains("[[") && text.contains("]]"));
    }
    match () {
        () if typed * TYPICAL_SHARE >= all && typed > 0 => DocumentsKind::Typed,
        () if linked * TYPICAL_SHARE >= all && linked > 0 => DocumentsKind::Vault,
        () => DocumentsKind::Docs,
    }
}

/// The texts of evenly distributed files.
fn sample<'a>(
    files: &'a [&RelPath],
    read: &'a impl Fn(&RelPath) -> Option<String>,
) -> impl Iterator<Item = String> + 'a {
    let step = files.len().div_ceil(SAMPLE_SIZE).max(1);
    files.iter().step_by(step).filter_map(move |path| read(path))
}

fn fields_of(text: &str) -> Map<String, Value> {
    frontmatter::parse(text).map(|parts| parts.fields).unwrap_or_default()
}

/// The highest folders that hold skills and no documents; single files where there is no such folder.
fn folders_of(of_skills: &BTreeSet<&RelPath>, documents: &[&RelPath]) -> Vec<RelPath> {
    let mut with_documents: BTreeMap<&str, ()> = BTreeMap::new();
    for document in documents {
        let mut folder = document.as_str();
        while !folder.is_empty() {
            folder = parent(folder);
            with_documents.insert(folder, ());
        }
    }
    let highest = |path: &&RelPath| {
        let mut highest = path.as_str();
        while !parent(highest).is_empty() && !with_documents.contains_key(parent(highest)) {
            highest = parent(highest);
        }
        RelPath::parse(highest).ok()
    };
    let folders: BTreeSet<RelPath> = of_skills.iter().filter_map(highest).collect();
    folders.into_iter().collect()
}

/// The deepest folder that holds all of these folders, unless it is the root.
fn common_folder<'a>(mut folders: impl Iterator<Item = &'a str>) -> Option<RelPath> {
    let mut common = folders.next()?;
    for folder in folders {
        while common != folder && !folder.strip_prefix(common).is_some_and(|rest| rest.starts_with('/')) {
            if common.is_empty() {
                return None;
            }
            common = parent(common);
        }
    }
    RelPath::parse(common).ok()
}

/// The folder of a path; empty at the root.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests;
