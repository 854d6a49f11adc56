//! The index of agent profiles: a name, a description and instructions in markdown.

use std::collections::BTreeSet;

use lyceum_model::RelPath;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Files, IndexFinding, below, fields, folders,
    names::{self, Candidates},
    parent,
};

/// Folders of agent profiles at the root of a repository, as Claude Code, Copilot and others have them.
const FOLDERS: [&str; 4] = ["agents", ".claude/agents", ".github/agents", ".opencode/agents"];

/// Suffixes of agent profiles, the longest first.
const SUFFIXES: [&str; 2] = [".agent.md", ".md"];

/// All agent profiles of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentsIndex {
    /// The profiles, by path.
    pub entries: Vec<AgentEntry>,
    /// The folder of the profiles, or the first of them; the whole source if `None`.
    pub folder: Option<RelPath>,
    /// Files with unusable frontmatter.
    pub findings: Vec<IndexFinding>,
}

/// An agent profile, as `agents-index.json` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentEntry {
    /// Its name, to get it by.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The model that it asks for.
    pub model: Option<String>,
    /// The tools that it may use; `None` if it does not say.
    pub allowed_tools: Option<Vec<String>>,
    /// Its path in the repository.
    #[schemars(with = "String")]
    pub path: RelPath,
    /// Link to it at the commit that is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl AgentsIndex {
    /// Lists the agent profiles below a folder, or wherever they usually are.
    pub fn build(files: &Files<'_>, folder: Option<&RelPath>) -> Self {
        let roots: Vec<String> = match folder {
            Some(folder) => vec![folder.to_string()],
            None => usual_folders(files),
        };
        let (mut findings, mut found) = (Vec::new(), Vec::new());
        for root in &roots {
            for path in files.paths.iter().filter(|path| path.as_str().ends_with(".md")) {
                let Some(rest) = below(path.as_str(), Some(root)) else { continue };
                let fields = fields::of_file(files, path, &mut findings);
                // A README without frontmatter is about the folder.
                if fields.is_empty() && path.name().eq_ignore_ascii_case("readme.md") {
                    continue;
                }
                // Below several folders, only the whole path is unique.
                let path_text = if roots.len() > 1 { path.as_str() } else { rest };
                let without = |text: &str| {
                    SUFFIXES.iter().find_map(|suffix| text.strip_suffix(suffix).map(str::to_owned))
                };
                let candidates = Candidates {
                    declared: fields::text(&fields, &["name"]),
                    stem: without(path.name()).unwrap_or_else(|| path.name().to_owned()),
                    path: without(path_text).unwrap_or_else(|| path_text.to_owned()),
                };
                found.push((*path, fields, candidates));
            }
        }
        let (found, candidates): (Vec<_>, Vec<_>) =
            found.into_iter().map(|(path, fields, candidates)| ((path, fields), candidates)).unzip();
        let names = names::unique(&candidates);
        let entries = found.into_iter().zip(names).map(|((path, fields), name)| AgentEntry {
            name,
            description: fields::text(&fields, &["description"]),
            model: fields::text(&fields, &["model"]),
            allowed_tools: fields::list(
                &fields,
                &["tools", "allowed-tools", "allowedTools", "allowed_tools"],
            ),
            path: path.clone(),
            url: (files.link)(path),
        });
        let folder = roots.first().and_then(|root| RelPath::parse(root).ok());
        Self { entries: entries.collect(), folder, findings }
    }

    /// The profile of that name.
    pub fn get(&self, name: &str) -> Option<&AgentEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// The folders of agent profiles: the usual ones, and those of plugins. Not those within skills, which are theirs.
fn usual_folders(files: &Files<'_>) -> Vec<String> {
    let skills: BTreeSet<&str> = files
        .paths
        .iter()
        .filter(|path| path.name() == "SKILL.md")
        .filter_map(|path| parent(path.as_str()))
        .collect();
    let is_plugin = |folder: &str| {
        parent(folder) == Some("plugins") || files.has_folder(&format!("{folder}/.claude-plugin"))
    };
    let mut all: Vec<String> =
        FOLDERS.iter().filter(|folder| files.has_folder(folder)).map(|folder| (*folder).to_owned()).collect();
    let mut of_plugins = BTreeSet::new();
    for path in files.paths.iter().filter(|path| path.as_str().ends_with(".md")) {
        for folder in folders(path.as_str()) {
            let is_agents = folder.strip_suffix("/agents").is_some_and(is_plugin);
            if is_agents && !folders(folder).any(|above| skills.contains(above)) {
                of_plugins.insert(folder.to_owned());
            }
        }
    }
    all.extend(of_plugins);
    all.dedup();
    all
}
