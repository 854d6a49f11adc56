//! `get_skill`: the `SKILL.md` of a skill.

use lyceum_content::library::SkillsIndex;
use lyceum_model::RelPath;
use lyceum_tools::{Call, Error, Faults, Tool};

use super::{NameArgs, Open, TextOutput, hint};
use crate::{Library, PartKind, read::Freshness};

/// The tool.
#[derive(Debug)]
pub(crate) struct GetSkill;

impl Tool for GetSkill {
    const NAME: &'static str = "get_skill";
    const TITLE: &'static str = "Get a skill";
    const DESCRIPTION: &'static str = "Reads the instructions (SKILL.md) of one of the team's skills, by the name that \
        list_skills shows. Read its other files with get_skill_file.";
    const FAULTS: Faults = Faults::InResultAsJson;

    type Service = Library;
    type Args = NameArgs;
    type Output = TextOutput;

    async fn call(library: &Library, call: &Call, args: NameArgs) -> Result<TextOutput, Error> {
        let skills = Open::skills(library).await?;
        let path = skills.folder("name", &args.name)?.file("name", "SKILL.md", &skills)?;
        let hint = || skills.hint(&args.name);
        let found = skills.read(call, vec![path], Freshness::of(args.skip_cache), hint).await?;
        Ok(TextOutput::new(args.name, found))
    }
}

/// The folder of a skill; the root of the repository if `None`.
pub(super) struct SkillFolder(Option<RelPath>);

impl SkillFolder {
    /// A file of the skill.
    pub(super) fn file(
        &self,
        field: &str,
        file: &str,
        skills: &Open<'_, SkillsIndex>,
    ) -> Result<RelPath, Error> {
        skills.below(field, self.0.as_ref(), file)
    }
}

impl<'a> Open<'a, SkillsIndex> {
    /// Opens the skills.
    pub(super) async fn skills(library: &'a Library) -> Result<Self, Error> {
        Self::part(library, PartKind::Skills, |indexes| indexes.skills.clone()).await
    }

    /// The folder of a skill: where the index has it, else the folder of that name.
    pub(super) fn folder(&self, field: &str, name: &str) -> Result<SkillFolder, Error> {
        let name = self.parameter(field, name)?;
        let index = self.indexed.as_ref().map(|indexed| &indexed.index);
        if let Some(entry) = index.and_then(|index| index.get(name.as_str())) {
            return Ok(SkillFolder(entry.path.parent()));
        }
        let folder = self.options.path.as_ref().or_else(|| index?.folder.as_ref());
        let folder = self.below(field, folder, name.as_str())?;
        self.check_unlisted(&folder, || self.hint(name.as_str()))?;
        Ok(SkillFolder(Some(folder)))
    }

    /// What to do if there is no skill of that name.
    pub(super) fn hint(&self, name: &str) -> String {
        let entries = self.indexed.iter().flat_map(|indexed| &indexed.index.entries);
        hint(name, entries.map(|entry| entry.name.as_str()), "list_skills")
    }
}
