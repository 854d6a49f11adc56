//! `refresh_skills`: refreshes the source now.

use jiff::Timestamp;
use lyceum_content::skill::{Finding, Severity};
use lyceum_model::Tier;
use lyceum_source::Kind;
use lyceum_tools::{Call, Effect, Error, Faults, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    SkillSet, Skills,
    analytics::{Event, RefreshMode},
    refresh::RefreshOutcome,
};

/// Maximum number of findings per response; `lyceum doctor` lists all.
const MAX_FINDINGS: usize = 20;

/// The tool.
#[derive(Debug)]
pub(crate) struct RefreshSkills;

/// It takes no arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

/// The output.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the newest version is served now.
    success: bool,
    /// `local`, if the skills come from a folder or are bundled.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    /// The served commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_hash: Option<String>,
    /// Number of files that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_changed: Option<u64>,
    /// Number of skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    skills_reindexed: Option<u64>,
    /// When that commit was synced.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sync: Option<String>,
    /// A message for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Skipped files and warnings, up to a limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    findings: Vec<Finding>,
}

impl Tool for RefreshSkills {
    const NAME: &'static str = "refresh_skills";
    const TITLE: &'static str = "Refresh skills";
    const DESCRIPTION: &'static str = "Fetches and reloads the skills from their repository now, \
        instead of waiting for the next regular refresh. Use it after a skill was changed.";
    const TIER: Tier = Tier::Vibecoder;
    const SCOPES: &'static [&'static str] = &["sources:refresh"];
    const FAULTS: Faults = Faults::InResultUnlessDenied;
    const EFFECT: Effect = Effect::Writes;

    type Service = Skills;
    type Args = Args;
    type Output = Output;

    async fn call(skills: &Skills, _: &Call, Args {}: Args) -> Result<Output, Error> {
        let local = match skills.store.source.kind() {
            Kind::Folder => Some("Reindexed from local directory (no git sync configured)."),
            Kind::Bundled => Some("The skills are bundled with the server (no git sync configured)."),
            Kind::Repository => None,
        };
        let is_local = local.is_some();
        // A local refresh takes only a moment, so wait for one that is in progress.
        let refreshed = if is_local { skills.refresh_in_turn().await } else { skills.refresh().await };
        let output = match refreshed {
            RefreshOutcome::Done { skill_set, .. } if is_local => {
                Output { mode: Some("local"), message: local.map(str::to_owned), ..described(&skill_set) }
            }
            RefreshOutcome::Done { skill_set, files_changed } => Output {
                commit_hash: skill_set.commit().map(str::to_owned),
                files_changed: Some(files_changed as u64),
                last_sync: Some(iso(skill_set.synced_at)),
                ..described(&skill_set)
            },
            RefreshOutcome::Busy => {
                Output { message: Some("Another refresh is in progress.".to_owned()), ..Output::default() }
            }
            RefreshOutcome::Failed(error) => {
                let served = skills.state().borrow().skill_set.clone();
                let message = match &served {
                    Some(_) => format!("Refresh failed; still serving the previous version: {error}"),
                    None => format!("Refresh failed: {error}"),
                };
                let described = served.as_ref().map(|skill_set| Output {
                    commit_hash: skill_set.commit().map(str::to_owned),
                    last_sync: Some(iso(skill_set.synced_at)),
                    ..described(skill_set)
                });
                Output { success: false, message: Some(message), ..described.unwrap_or_default() }
            }
        };
        let served = skills.state().borrow().skill_set.clone();
        if let Some(skill_set) = served {
            let event = Event::Refresh {
                mode: if is_local { RefreshMode::Local } else { RefreshMode::Git },
                success: output.success,
                commit_hash: output.commit_hash.clone(),
                files_changed: output.files_changed,
                skills_reindexed: skill_set.index.skills().len() as u64,
            };
            skills.track(&skill_set, &event);
        }
        Ok(output)
    }
}

fn described(skill_set: &SkillSet) -> Output {
    // Hidden files are excluded on purpose.
    let findings = skill_set.findings().iter().filter(|finding| finding.severity > Severity::Ignored);
    Output {
        success: true,
        skills_reindexed: Some(skill_set.index.skills().len() as u64),
        findings: findings.take(MAX_FINDINGS).cloned().collect(),
        ..Output::default()
    }
}

/// `2026-02-18T14:30:00.000Z`.
fn iso(time: Timestamp) -> String {
    format!("{time:.3}")
}
