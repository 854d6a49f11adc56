//! `get_skill_file`: any file of a skill, in base64.

use base64::{Engine, prelude::BASE64_STANDARD};
use lyceum_tools::{Call, Error, Faults, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Open, hint};
use crate::{Library, read::Freshness};

/// The tool.
#[derive(Debug)]
pub(crate) struct GetSkillFile;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Args {
    /// The name of the skill, as list_skills shows it.
    skill: String,
    /// The file, relative to the folder of the skill, as in `files` of list_skills.
    file: String,
    /// Whether to read the newest version even if one from the last ten minutes is cached. Default: false.
    #[serde(default)]
    skip_cache: bool,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The name of the skill.
    skill: String,
    /// The file, relative to the folder of the skill.
    file: String,
    /// The bytes, in base64.
    content: String,
    /// Always "base64".
    encoding: &'static str,
    /// Size of the file in bytes.
    size: usize,
    /// Path in the repository.
    path: String,
    /// Git's id of this version of the file.
    sha: String,
    /// The commit that this version was seen at; absent if it is newer than the lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Link to the file at that commit, or else on its branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl Tool for GetSkillFile {
    const NAME: &'static str = "get_skill_file";
    const TITLE: &'static str = "Get a file of a skill";
    const DESCRIPTION: &'static str = "Reads a file of one of the team's skills, such as a script, a template or a \
        reference, in base64. list_skills shows which files a skill has.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = Args;
    type Output = Output;

    async fn call(library: &Library, call: &Call, args: Args) -> Result<Output, Error> {
        let skills = Open::skills(library).await?;
        let file = skills.parameter("file", &args.file)?;
        let path = skills.folder("skill", &args.skill)?.file("file", file.as_str(), &skills)?;
        let hint = || {
            let skill = skills.indexed.as_ref().and_then(|indexed| indexed.index.get(&args.skill));
            match skill {
                None => skills.hint(&args.skill),
                Some(skill) => hint(&args.file, skill.files.iter().map(String::as_str), "list_skills"),
            }
        };
        let found = skills.read(call, vec![path], Freshness::of(args.skip_cache), hint).await?;
        Ok(Output {
            skill: args.skill,
            file: args.file,
            content: BASE64_STANDARD.encode(&found.file.bytes),
            encoding: "base64",
            size: found.file.bytes.len(),
            path: found.path.to_string(),
            sha: found.file.sha.clone(),
            commit: found.commit,
            url: found.url,
        })
    }
}
