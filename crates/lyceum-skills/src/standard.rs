//! Skills of the Agent Skills standard over MCP: `skill://` resources, and the extension `io.modelcontextprotocol/skills`.
//!
//! Served are the skills that follow the standard, with a digest of every file.

pub(crate) mod address;
pub(crate) mod directory;
mod entry;
mod resource;

use std::{sync::Arc, time::Duration};

use lyceum_model::{Access, ErrorCode};
use lyceum_tools::{
    Call, Error, ExtensionEntry, MethodEntry, Page, RegistryBuilder, RegistryError,
    mcp::{JsonObject, printable},
};
use serde::{Deserialize, Serialize};

use crate::{SkillSet, Skills};

/// The extension's name.
const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// How long clients may keep a listing. Digests tell them what changed.
const KEPT_FOR: Duration = Duration::from_secs(60);

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
            MethodEntry::of(access.clone(), "skills/list", move |_, asked| list_skills(list.clone(), asked))
                .kept_for(KEPT_FOR),
        )
        .method(
            MethodEntry::of(access.clone(), "skills/get", move |_, asked| get_skill(get.clone(), asked))
                .kept_for(KEPT_FOR),
        )
        .method(
            MethodEntry::of(access.clone(), "resources/directory/read", move |_: Call, asked| {
                read_directory(read.clone(), asked)
            })
            .kept_for(KEPT_FOR),
        );
    resource::register(builder.extension(extension)?, access, skills, skill_set)
}

#[derive(Deserialize)]
struct ListAsked {
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    skills: Vec<entry::WireSkill>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list_skills(skills: Arc<Skills>, asked: ListAsked) -> Result<Listed, Error> {
    let skill_set = skills.skill_set().await?;
    let agent_skills = &skill_set.agent_skills;
    let entries = agent_skills.skills.iter().map(|(address, entry)| (address.as_str(), (address, entry)));
    let page = Page::take("skills", entries, asked.cursor.as_deref())?;
    let skills =
        page.entries.into_iter().map(|(address, entry)| entry::wire(agent_skills, address, entry)).collect();
    Ok(Listed { skills, next_cursor: page.next })
}

#[derive(Deserialize)]
struct GetAsked {
    uri: String,
}

#[derive(Serialize)]
struct Got {
    skill: entry::WireSkill,
}

async fn get_skill(skills: Arc<Skills>, asked: GetAsked) -> Result<Got, Error> {
    let skill_set = skills.skill_set().await?;
    let file = address::path_of(&asked.uri);
    let folder = file.and_then(|file| file.strip_suffix("/SKILL.md"));
    let skill = folder.and_then(|folder| Some((skill_set.agent_skills.skills.get(&folder)?, folder)));
    let (entry, folder) =
        skill.ok_or_else(|| unknown(format!("No skill is served at {:?}", printable(&asked.uri))))?;
    let skill = entry::WireSkill { uri: asked.uri, ..entry::wire(&skill_set.agent_skills, &folder, entry) };
    Ok(Got { skill })
}

#[derive(Deserialize)]
struct DirectoryAsked {
    uri: String,
    cursor: Option<String>,
}

async fn read_directory(skills: Arc<Skills>, asked: DirectoryAsked) -> Result<directory::Listing, Error> {
    let skill_set = skills.skill_set().await?;
    let folder = address::path_of(&asked.uri);
    let children = folder.and_then(|folder| directory::children(&skill_set.agent_skills, &folder));
    let children = children
        .ok_or_else(|| unknown(format!("{:?} is not a directory resource", printable(&asked.uri))))?;
    directory::page(&asked.uri, &children, asked.cursor.as_deref())
}

fn unknown(message: String) -> Error {
    Error::Failed { code: ErrorCode::NotFound, message }
}
