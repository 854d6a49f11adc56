//! The six tools. Names, arguments and answers are those of the document that they come from.

mod get_asset;
mod get_skill;
mod list_skills;
mod refresh_skills;
mod report_usage;
mod run_script;

pub use get_asset::GetAsset;
pub use get_skill::GetSkill;
pub use list_skills::ListSkills;
pub use refresh_skills::RefreshSkills;
pub use report_usage::ReportUsage;
pub use run_script::RunScript;
