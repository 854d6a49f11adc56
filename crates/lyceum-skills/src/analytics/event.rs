//! Usage events. Names of variants and fields are those on the wire.

use serde::Serialize;

use super::clip;

/// One usage event, without time and server.
///
/// Long texts and lists are truncated when serialized, so that every event fits into a batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// `get_skill` found nothing.
    NoMatch {
        /// The task given by the caller.
        #[serde(serialize_with = "clip::text")]
        context: String,
    },
    /// `get_skill` found several about equally good matches.
    Ambiguous {
        /// The task given by the caller.
        #[serde(serialize_with = "clip::text")]
        context: String,
        /// Paths of the matching skills.
        #[serde(serialize_with = "clip::list")]
        candidates: Vec<String>,
    },
    /// `get_skill` returned a skill.
    SkillServed {
        /// The task given by the caller.
        #[serde(serialize_with = "clip::text")]
        context: String,
        /// The returned skill.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// Its score, from 0 to 1.
        score: f64,
        /// The matching keywords.
        #[serde(serialize_with = "clip::list")]
        matched_keywords: Vec<String>,
        /// Whether the match was ambiguous.
        was_ambiguous: bool,
    },
    /// `get_asset` returned a file.
    AssetServed {
        /// The requested skill.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// The file, relative to the skill's folder.
        #[serde(serialize_with = "clip::name")]
        file: String,
        /// Declared type of the file, such as `template`.
        #[serde(serialize_with = "clip::name")]
        asset_type: String,
        /// Whether the file is inherited from an ancestor.
        is_inherited: bool,
        /// The size of the file.
        size_bytes: u64,
    },
    /// `run_script` finished, successfully or not.
    ScriptExecuted {
        /// The requested skill.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// The script, relative to the skill's folder.
        #[serde(serialize_with = "clip::name")]
        file: String,
        /// Declared execution mode: `server` or `claude`.
        #[serde(serialize_with = "clip::name")]
        execution_mode: String,
        /// Whether the exit code is 0.
        success: bool,
        /// Exit code; 137 on timeout.
        exit_code: i32,
        /// Duration.
        duration_ms: u64,
        /// Names of the arguments. Never their values, which can be secrets.
        #[serde(serialize_with = "clip::list")]
        args_provided: Vec<String>,
    },
    /// `report_usage` reported whether a skill was useful.
    SkillFeedback {
        /// The skill.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// Whether it was useful.
        useful: bool,
        /// The caller's comment, if any.
        #[serde(serialize_with = "clip::optional_text", skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
    },
    /// `refresh_skills` refreshed the skills.
    Refresh {
        /// Kind of source.
        mode: RefreshMode,
        /// Whether it succeeded.
        success: bool,
        /// The commit, if any.
        #[serde(serialize_with = "clip::optional_text", skip_serializing_if = "Option::is_none")]
        commit_hash: Option<String>,
        /// Number of changed files, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        files_changed: Option<u64>,
        /// Number of skills after the refresh.
        skills_reindexed: u64,
    },
}

/// Kind of source of `refresh_skills`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefreshMode {
    /// A Git repository.
    Git,
    /// A local folder, or bundled files.
    Local,
}

impl Event {
    /// The `type` on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoMatch { .. } => "no_match",
            Self::Ambiguous { .. } => "ambiguous",
            Self::SkillServed { .. } => "skill_served",
            Self::AssetServed { .. } => "asset_served",
            Self::ScriptExecuted { .. } => "script_executed",
            Self::SkillFeedback { .. } => "skill_feedback",
            Self::Refresh { .. } => "refresh",
        }
    }
}
