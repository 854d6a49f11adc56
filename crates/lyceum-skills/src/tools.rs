//! The six tools. Their names, arguments and results are specified.

mod get_asset;
mod get_skill;
mod list_skills;
mod refresh_skills;
mod report_usage;
mod run_script;

pub(crate) use get_asset::GetAsset;
pub(crate) use get_skill::GetSkill;
pub(crate) use list_skills::ListSkills;
pub(crate) use refresh_skills::RefreshSkills;
pub(crate) use report_usage::ReportUsage;
pub(crate) use run_script::RunScript;
