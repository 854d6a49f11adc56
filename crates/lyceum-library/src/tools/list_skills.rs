//! `list_skills`: the index of skills.

use lyceum_content::library::SkillEntry;
use lyceum_tools::{Call, Error, Faults, Tool};

use super::PageArgs;
use crate::{Library, PartKind};

/// The tool.
#[derive(Debug)]
pub(crate) struct ListSkills;

impl Tool for ListSkills {
    const NAME: &'static str = "list_skills";
    const TITLE: &'static str = "List skills";
    const DESCRIPTION: &'static str = "Lists the team's skills: name, description, hint about arguments, and the other \
        files of each skill. Read one with get_skill, and its files with get_skill_file. Returns at most 1000; if you \
        get as many as the limit, call again with a larger offset.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = PageArgs;
    type Output = Vec<SkillEntry>;

    async fn call(library: &Library, _: &Call, args: PageArgs) -> Result<Vec<SkillEntry>, Error> {
        let skills = library.index(PartKind::Skills, |indexes| indexes.skills.clone()).await?;
        Ok(args.of(&skills.index.entries))
    }
}
