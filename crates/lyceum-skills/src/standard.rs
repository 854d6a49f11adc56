//! Agent Skills over MCP: `skill://` resources and the extension `io.modelcontextprotocol/skills`.
//!
//! Only skills that follow the standard are served this way, with a digest of every file.

pub(crate) mod address;
pub(crate) mod directory;
mod entry;
mod resource;

use std::{sync::Arc, time::Duration};

use lyceum_model::{Access, ErrorCode};
use lyceum_tools::{
    Call, Error, ExtensionEntry, Merge, MethodEntry, Page, RegistryBuilder, RegistryError,
    mcp::{JsonObject, printable},
};
use serde::{Deserialize, Serialize};

use crate::{SkillSet, Skills};

/// The extension's name.
const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// How long clients may cache a listing; digests show what changed.
const LIST_TTL: Duration = Duration::from_secs(60);

/// Adds the resources of this skill set and the extension.
pub(crate) fn register(
    builder: RegistryBuilder,
    access: &Access,
    skills: &Arc<Skills>,
    skill_set: Option<&SkillSet>,
) -> Result<RegistryBuilder, RegistryError> {
    let settings = JsonObject::from_iter([("directoryRead".to_owned(), true.into())]);
    let (list, get, read) = (skills.clone(), skills.clone(), skills.clone());
    let extension = ExtensionEntry::new(access.clone(), EXTENSION, settings)
        .method(
            MethodEntry::of(access.clone(), "skills/list", move |_, params| {
                list_skills(list.clone(), params)
            })
            .merged_by(Merge::Pages)
            .cached_for(LIST_TTL),
        )
        .method(
            MethodEntry::of(access.clone(), "skills/get", move |_, params| get_skill(get.clone(), params))
                .cached_for(LIST_TTL),
        )
        .method(
            MethodEntry::of(access.clone(), "resources/directory/read", move |_: Call, params| {
                read_directory(read.clone(), params)
            })
            .cached_for(LIST_TTL),
        );
    resource::register(builder.extension(extension)?, access, skills, skill_set)
}

#[derive(Deserialize)]
struct ListParams {
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResult {
    skills: Vec<entry::WireSkill>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list_skills(skills: Arc<Skills>, params: ListParams) -> Result<ListResult, Error> {
    let skill_set = skills.skill_set().await?;
    let agent_skills = &skill_set.agent_skills;
    let entries = agent_skills.skills.iter().map(|(address, entry)| (address.as_str(), (address, entry)));
    let page = Page::take("skills", entries, params.cursor.as_deref())?;
    let skills =
        page.entries.into_iter().map(|(address, entry)| entry::wire(agent_skills, address, entry)).collect();
    Ok(ListResult { skills, next_cursor: page.next })
}

#[derive(Deserialize)]
struct GetParams {
    uri: String,
}

#[derive(Serialize)]
struct GetResult {
    skill: entry::WireSkill,
}

async fn get_skill(skills: Arc<Skills>, params: GetParams) -> Result<GetResult, Error> {
    let skill_set = skills.skill_set().await?;
    let file = address::path_of(&params.uri);
    let folder = file.and_then(|file| file.strip_suffix("/SKILL.md"));
    let skill = folder.and_then(|folder| Some((skill_set.agent_skills.skills.get(&folder)?, folder)));
    let (entry, folder) =
        skill.ok_or_else(|| unknown(format!("No skill is served at {:?}", printable(&params.uri))))?;
    let skill = entry::WireSkill { uri: params.uri, ..entry::wire(&skill_set.agent_skills, &folder, entry) };
    Ok(GetResult { skill })
}

#[derive(Deserialize)]
struct DirectoryParams {
    uri: String,
    cursor: Option<String>,
}

async fn read_directory(skills: Arc<Skills>, params: DirectoryParams) -> Result<directory::Listing, Error> {
    let skill_set = skills.skill_set().await?;
    let folder = address::path_of(&params.uri);
    let children = folder.and_then(|folder| directory::children(&skill_set.agent_skills, &folder));
    let children = children
        .ok_or_else(|| unknown(format!("{:?} is not a directory resource", printable(&params.uri))))?;
    directory::page(&params.uri, &children, params.cursor.as_deref())
}

fn unknown(message: String) -> Error {
    Error::Failed { code: ErrorCode::NotFound, message }
}
