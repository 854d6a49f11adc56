//! Folders of Agent Skills, as `resources/directory/read` lists them.

use std::collections::BTreeMap;

use lyceum_content::files_below;
use lyceum_model::RelPath;
use lyceum_tools::{Error, Page, mcp::WireResource};
use serde::Serialize;

use super::{address, resource};
use crate::skill_set::AgentSkills;

/// One page of a folder.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listing {
    resources: Vec<WireResource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The children of a folder, by name; `None` if it contains no file of an Agent Skill.
pub(crate) fn children(
    agent_skills: &AgentSkills,
    folder: &RelPath,
) -> Option<BTreeMap<String, WireResource>> {
    let mut children = BTreeMap::new();
    for (path, file) in files_below(&agent_skills.files, Some(folder)) {
        let Some(rest) = path.below(folder) else { continue };
        match rest.as_str().split_once('/') {
            None => {
                children.insert(rest.to_string(), resource::wire(agent_skills, path, file));
            }
            Some((name, _)) => {
                let inner = RelPath::parse(name).ok().and_then(|name| folder.join(&name));
                if let Some(inner) = inner.filter(|_| !children.contains_key(name)) {
                    let entry =
                        WireResource::new(address::of(&inner), name).with_mime_type("inode/directory");
                    children.insert(name.to_owned(), entry);
                }
            }
        }
    }
    (!children.is_empty()).then_some(children)
}

pub(super) fn page(
    uri: &str,
    children: &BTreeMap<String, WireResource>,
    cursor: Option<&str>,
) -> Result<Listing, Error> {
    let entries = children.iter().map(|(name, child)| (name.as_str(), child.clone()));
    let page = Page::take(&format!("directory {uri}"), entries, cursor)?;
    Ok(Listing { resources: page.entries, next_cursor: page.next })
}
