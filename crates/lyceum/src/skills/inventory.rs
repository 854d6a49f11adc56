//! What a skills service serves and leaves out.

use lyceum_content::skill::Severity;
use lyceum_skills::{Skills, State};

use crate::{
    finding::counted,
    inventory::{Inventory, Omissions},
};

/// The inventory after the first refresh.
pub(super) async fn inventory(skills: &Skills) -> Inventory {
    skills.until_refreshed().await;
    let State { skill_set, error } = skills.current_state();
    let count = skill_set.as_ref().map_or(0, |skill_set| skill_set.index.skills().len());
    let mut served = counted(count, "skill", "skills");
    if let Some(error) = error {
        served = format!("{served}; refresh failed: {error}");
    }
    let mut omissions = Omissions::default();
    for finding in skill_set.iter().flat_map(|skill_set| skill_set.findings()) {
        match finding.severity {
            Severity::Skipped => omissions.add(&finding.file, &finding.message),
            // A rule excludes ignored files, such as .gitignore; that is no news.
            Severity::Warning | Severity::Ignored => {}
        }
    }
    Inventory { source: skills.source_name().clone(), served, left_out: omissions.lines() }
}
