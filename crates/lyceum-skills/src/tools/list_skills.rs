//! `list_skills`: the tree of skills.

use lyceum_content::skill::SkillNode;
use lyceum_model::{ErrorCode, RelPath};
use lyceum_tools::{Call, Error, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Skills, service::invalid_path};

/// Maximum number of skills per response.
const MAX_NODES: usize = 1000;

/// The tool.
#[derive(Debug)]
pub(crate) struct ListSkills;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Sub-tree filter, such as "ui" or "api/_index".
    #[serde(default)]
    path: Option<String>,
    /// Number of children to skip, as given in `more` of an earlier response.
    #[serde(default)]
    #[schemars(range(min = 0))]
    offset: Option<usize>,
}

impl Tool for ListSkills {
    const NAME: &'static str = "list_skills";
    const TITLE: &'static str = "List skills";
    const DESCRIPTION: &'static str = "Shows the tree of skills with their descriptions and keywords; with path, one \
        part of it. For large trees, `more` names the call for the next page. Use it to browse. To \
        work on a task, call get_skill.";

    type Service = Skills;
    type Args = Args;
    type Output = SkillNode;

    async fn call(skills: &Skills, _: &Call, args: Args) -> Result<SkillNode, Error> {
        let skill_set = skills.skill_set().await?;
        let offset = args.offset.unwrap_or_default();
        let Some(path) = args.path.filter(|path| !path.trim_matches('/').is_empty()) else {
            return Ok(skill_set.index.tree().page(offset, MAX_NODES));
        };
        RelPath::parse(path.trim_matches('/')).map_err(|error| invalid_path("path", &error))?;
        let node = skill_set.index.subtree_at(&path).ok_or_else(|| Error::Failed {
            code: ErrorCode::NotFound,
            message: format!("no skill is at or below {path:?}; leave path out to see the whole tree"),
        })?;
        Ok(node.page(offset, MAX_NODES))
    }
}
