//! What a skill set holds, in a sentence for tool descriptions and instructions.

use lyceum_content::{
    coarse::{self, Labels},
    skill::Skill,
};
use lyceum_tools::ToolSpec;

use crate::Skills;

/// Maximum number of skills to name.
const MAX_NAMED: usize = 8;

impl Skills {
    /// The number of skills, and the names of skills or of the folders they are in; empty before the first refresh.
    pub fn about(&self) -> String {
        let skill_set = self.state().borrow().skill_set.clone();
        skill_set.map(|skill_set| about(skill_set.index.skills())).unwrap_or_default()
    }
}

/// Appends what the skill set holds to a tool's description.
pub(crate) fn with_profile(skills: &Skills, mut spec: ToolSpec) -> ToolSpec {
    let about = skills.about();
    if !about.is_empty() {
        spec.description = format!("{} {about}", spec.description);
    }
    spec
}

fn about(skills: &[Skill]) -> String {
    let (mut names, mut folders) = (Labels::default(), Labels::default());
    for skill in skills {
        let mut parts = skill.path.as_str().rsplit('/');
        parts.next().into_iter().for_each(|name| names.count(name));
        parts.next().into_iter().for_each(|folder| folders.count(folder));
    }
    let count = coarse::about(skills.len());
    let named = match (names.len(), folders.most_frequent(2, MAX_NAMED)) {
        (0, _) => return format!("There are {count} skills."),
        (1..=MAX_NAMED, _) => {
            return format!("The skills: {}.", names.most_frequent(1, MAX_NAMED).join(", "));
        }
        (_, folders) if folders.len() > 1 => format!("in {}", folders.join(", ")),
        _ => format!("among them {}", names.most_frequent(1, MAX_NAMED).join(", ")),
    };
    format!("There are {count} skills, {named}.")
}
