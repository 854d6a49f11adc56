//! What can happen to a skill that is worth counting. The names of variants and fields are those on the wire.

use serde::Serialize;

use super::clip;

/// One use of the skills service, without its time and place.
///
/// Long texts and lists are clipped when they are written down, so that every event fits into a batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// `get_skill` found nothing.
    NoMatch {
        /// What the caller asked for.
        #[serde(serialize_with = "clip::text")]
        context: String,
    },
    /// `get_skill` found several that fit equally well.
    Ambiguous {
        /// What the caller asked for.
        #[serde(serialize_with = "clip::text")]
        context: String,
        /// The paths of the skills that fit.
        #[serde(serialize_with = "clip::list")]
        candidates: Vec<String>,
    },
    /// `get_skill` gave a skill.
    SkillServed {
        /// What the caller asked for.
        #[serde(serialize_with = "clip::text")]
        context: String,
        /// The skill that was given.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// How well it fits, from 0 to 1.
        score: f64,
        /// The keywords that made it fit.
        #[serde(serialize_with = "clip::list")]
        matched_keywords: Vec<String>,
        /// Whether others fit equally well.
        was_ambiguous: bool,
    },
    /// `get_asset` gave a file.
    AssetServed {
        /// The skill that was asked.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// The file, below the folder of the skill.
        #[serde(serialize_with = "clip::name")]
        file: String,
        /// What the skill says the file is, such as `template`.
        #[serde(serialize_with = "clip::name")]
        asset_type: String,
        /// Whether the file belongs to a parent of the skill.
        is_inherited: bool,
        /// The size of the file.
        size_bytes: u64,
    },
    /// `run_script` came to an end, good or bad.
    ScriptExecuted {
        /// The skill that was asked.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// The script, below the folder of the skill.
        #[serde(serialize_with = "clip::name")]
        file: String,
        /// Who runs it, as the skill says: `server` or `claude`.
        #[serde(serialize_with = "clip::name")]
        execution_mode: String,
        /// Whether the exit code is 0.
        success: bool,
        /// How the process ended; 137 when its time was up.
        exit_code: i32,
        /// How long it ran.
        duration_ms: u64,
        /// The names of the arguments it got. Never their values: those can be secrets.
        #[serde(serialize_with = "clip::list")]
        args_provided: Vec<String>,
    },
    /// `report_usage` told whether a skill was of use.
    SkillFeedback {
        /// The skill in question.
        #[serde(serialize_with = "clip::name")]
        skill_path: String,
        /// Whether it was of use.
        useful: bool,
        /// In the caller's words; left out when there are none.
        #[serde(serialize_with = "clip::optional_text", skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
    },
    /// `refresh_skills` read the skills again.
    Refresh {
        /// Where they came from.
        mode: RefreshMode,
        /// Whether it worked.
        success: bool,
        /// The commit they are from; left out when there is none.
        #[serde(serialize_with = "clip::optional_text", skip_serializing_if = "Option::is_none")]
        commit_hash: Option<String>,
        /// How many files are new in it; left out when nobody knows.
        #[serde(skip_serializing_if = "Option::is_none")]
        files_changed: Option<u64>,
        /// How many skills there are now.
        skills_reindexed: u64,
    },
}

/// Where `refresh_skills` reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefreshMode {
    /// A Git repository.
    Git,
    /// A folder of this machine, or the program itself.
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
