//! `get_asset`: a file of a skill, or of one that it inherits from.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use lyceum_content::skill::{is_binary, mime_type};
use lyceum_model::{ErrorCode, RelPath};
use lyceum_source::{ReadError, Reason};
use lyceum_tools::{Call, Error, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    SkillSet, Skills,
    analytics::Event,
    service::{find, invalid_path},
};

/// The tool.
#[derive(Debug)]
pub(crate) struct GetAsset;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Skill path, such as "ui/react/auth".
    skill_path: String,
    /// Relative file path within the resource directory, as get_skill names it.
    file: String,
}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The requested skill.
    skill_path: String,
    /// The requested file.
    file: String,
    /// The content, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The content as base64, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_base64: Option<String>,
    /// Size in bytes.
    size_bytes: u64,
    /// What it is for: template, image, script, other …
    r#type: String,
    /// The media type, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
    /// The skill the file is inherited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_from: Option<String>,
}

impl Tool for GetAsset {
    const NAME: &'static str = "get_asset";
    const TITLE: &'static str = "Get an asset";
    const DESCRIPTION: &'static str = "Returns a file that a skill offers: a template, a reference, an image, or a \
        script to run yourself. File names are in the result of get_skill.";

    type Service = Skills;
    type Args = Args;
    type Output = Output;

    async fn call(skills: &Skills, _: &Call, args: Args) -> Result<Output, Error> {
        let skill_set = skills.skill_set().await?;
        let skill = find(&skill_set, &args.skill_path)?;
        // Both spellings name the same file.
        let name = args.file.strip_prefix("./").unwrap_or(&args.file);
        let file = RelPath::parse(name).map_err(|error| invalid_path("file", &error))?;
        let found = skill_set.index.find_file(skill, &file).ok_or_else(|| Error::Failed {
            code: ErrorCode::NotFound,
            message: format!(
                "asset not found: {:?} is not among the files of {:?}; get_skill names them",
                file.as_str(),
                skill.path.as_str()
            ),
        })?;
        let bytes = read(&skill_set, &found.path, &file).await?;
        let size_bytes = bytes.len() as u64;
        let resolved_from = found.from.map(|from| from.to_string());
        let (content, content_base64) = if is_binary(&file) {
            (None, Some(BASE64_STANDARD.encode(&bytes)))
        } else {
            match String::from_utf8(bytes) {
                Ok(text) => (Some(text), None),
                // Not UTF-8 despite its extension: base64 loses nothing.
                Err(not_text) => (None, Some(BASE64_STANDARD.encode(not_text.as_bytes()))),
            }
        };
        skills.track(
            &skill_set,
            &Event::AssetServed {
                skill_path: skill.path.to_string(),
                file: file.to_string(),
                asset_type: found.kind.type_name().to_owned(),
                is_inherited: resolved_from.is_some(),
                size_bytes,
            },
        );
        Ok(Output {
            skill_path: skill.path.to_string(),
            mime_type: content_base64.is_some().then(|| mime_type(&file)),
            file: file.to_string(),
            content,
            content_base64,
            size_bytes,
            r#type: found.kind.type_name().to_owned(),
            resolved_from,
        })
    }
}

/// Reads a declared file, not larger than the settings allow.
async fn read(skill_set: &Arc<SkillSet>, place: &RelPath, file: &RelPath) -> Result<Vec<u8>, Error> {
    if let Some(refusal) = skill_set.refusal_of(place, file) {
        return Err(refusal);
    }
    let (reader, place, most) = (skill_set.clone(), place.clone(), skill_set.settings.assets.max_size_bytes);
    let read = tokio::task::spawn_blocking(move || reader.read(&place, most)).await;
    read.map_err(Error::internal)?.map_err(|error| match error {
        ReadError::Missing => missing(file),
        ReadError::Leaves => leaves(file),
        ReadError::TooLarge { size, most } => Error::Failed {
            code: ErrorCode::PayloadTooLarge,
            message: format!(
                "{:?} has {size} bytes; at most {most} are served (assets.max_size_bytes)",
                file.as_str()
            ),
        },
        other @ ReadError::Io(_) => Error::internal(other),
    })
}

impl SkillSet {
    /// Why a declared file is unavailable: missing, or a symbolic link that leaves the folder.
    pub(super) fn refusal_of(&self, place: &RelPath, file: &RelPath) -> Option<Error> {
        if self.has(place) {
            return None;
        }
        Some(match self.left_out(place) {
            Some(Reason::Leaves) => leaves(file),
            Some(reason) => Error::Failed {
                code: ErrorCode::NotFound,
                message: format!(
                    "{:?} is declared but left out of the skills' folder: {reason}",
                    file.as_str()
                ),
            },
            None => missing(file),
        })
    }
}

fn missing(file: &RelPath) -> Error {
    let message = format!("{:?} is declared but missing in the skill's folder", file.as_str());
    Error::Failed { code: ErrorCode::NotFound, message }
}

fn leaves(file: &RelPath) -> Error {
    let message = format!(
        "path traversal is not allowed: {:?} is a link that leaves the skills' folder",
        file.as_str()
    );
    Error::Failed { code: ErrorCode::InvalidPath, message }
}
