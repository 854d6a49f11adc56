//! The files of Agent Skills as resources: each `SKILL.md` is listed, every other file can be read.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use lyceum_content::skill::{MAX_SKILL_BYTES, is_binary, mime_type};
use lyceum_model::{Access, RelPath};
use lyceum_source::ReadError;
use lyceum_tools::{
    Error, Outcome, RegistryBuilder, RegistryError, ResourceEntry, TemplateEntry,
    mcp::{ReadResourceResult, ResourceContents, ResourceTemplate, WireResource, printable},
};

use super::address;
use crate::{
    SkillSet, Skills,
    skill_set::{AgentSkillFile, AgentSkills},
};

/// Adds the `SKILL.md` of each Agent Skill, and a template for all files.
pub(super) fn register(
    mut builder: RegistryBuilder,
    access: &Access,
    skills: &Arc<Skills>,
    skill_set: Option<&SkillSet>,
) -> Result<RegistryBuilder, RegistryError> {
    let agent_skills = skill_set.map(|skill_set| &skill_set.agent_skills);
    for (agent_skills, path, file) in agent_skills.into_iter().flat_map(|agent_skills| {
        agent_skills.skill_files().map(move |(path, file)| (agent_skills, path, file))
    }) {
        let wire = wire(agent_skills, path, file);
        let skills = skills.clone();
        let entry =
            ResourceEntry::new(access.clone(), wire, move |_, address| read(skills.clone(), address.uri));
        builder = builder.resource(entry)?;
    }
    let root = skills.address();
    let wire = ResourceTemplate::new(format!("{root}{{+path}}"), "skill-file")
        .with_title("File of a skill")
        .with_description(format!(
            "A file of a skill, such as {root}pdf/SKILL.md. skills/list names them all."
        ));
    let (read_from, looked_up_in) = (skills.clone(), skills.clone());
    let template =
        TemplateEntry::new(access.clone(), wire, move |_, address| read(read_from.clone(), address.uri))?;
    builder.template(template.existing_by(move |address| exists(&looked_up_in, &address.uri)))
}

/// Whether a file belongs to an Agent Skill now.
fn exists(skills: &Skills, uri: &str) -> bool {
    let state = skills.state();
    let state = state.borrow();
    let skill_set = state.skill_set.as_ref();
    skill_set
        .zip(address::path_of(uri))
        .is_some_and(|(skill_set, path)| skill_set.agent_skills.files.contains_key(&path))
}

/// A file as a resource; a `SKILL.md` has the name and description of its skill.
pub(super) fn wire(agent_skills: &AgentSkills, path: &RelPath, file: &AgentSkillFile) -> WireResource {
    let skill = path.strip_suffix("/SKILL.md").and_then(|folder| agent_skills.skills.get(&folder));
    let size = file.size;
    let wire = match skill {
        Some(skill) => WireResource::new(address::of(path), skill.name.clone())
            .with_description(skill.description.clone()),
        None => WireResource::new(address::of(path), path.name()),
    };
    wire.with_mime_type(media_type(path)).with_size(size)
}

async fn read(skills: Arc<Skills>, uri: String) -> Result<Outcome<ReadResourceResult>, Error> {
    let skill_set = skills.skill_set().await?;
    let path = address::path_of(&uri);
    let file = path.as_ref().and_then(|path| skill_set.agent_skills.files.get(path)).cloned();
    let (Some(path), Some(file)) = (path, file) else {
        return Err(Error::ResourceNotFound { uri: printable(&uri) });
    };
    let read = tokio::task::spawn_blocking(move || skill_set.read(&file.place, MAX_SKILL_BYTES)).await;
    let bytes = read.map_err(Error::internal)?.map_err(|error| match error {
        ReadError::Io(_) => Error::internal(error),
        ReadError::Missing | ReadError::TooLarge { .. } | ReadError::Leaves => {
            Error::ResourceNotFound { uri: printable(&uri) }
        }
    })?;
    // The digest covers the bytes, so only valid UTF-8 is sent as text.
    let contents = match String::from_utf8(bytes) {
        Ok(text) if !is_binary(&path) || path.extension() == ".svg" => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(BASE64_STANDARD.encode(text), uri),
        Err(bytes) => ResourceContents::blob(BASE64_STANDARD.encode(bytes.as_bytes()), uri),
    };
    Ok(Outcome::Done(ReadResourceResult::new(vec![contents.with_mime_type(media_type(&path))])))
}

/// The media type by file extension.
fn media_type(path: &RelPath) -> &'static str {
    if is_binary(path) {
        return mime_type(path);
    }
    match path.extension().to_ascii_lowercase().as_str() {
        ".md" => "text/markdown",
        ".json" => "application/json",
        ".yaml" | ".yml" => "application/yaml",
        ".html" | ".htm" => "text/html",
        ".css" => "text/css",
        ".csv" => "text/csv",
        ".js" | ".mjs" | ".cjs" => "text/javascript",
        ".xml" | ".xsd" => "application/xml",
        ".py" => "text/x-python",
        ".sh" => "application/x-sh",
        ".ttf" => "font/ttf",
        ".xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ".docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ".pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ".tar" | ".gz" | ".bin" | ".wasm" => "application/octet-stream",
        _ => "text/plain",
    }
}
