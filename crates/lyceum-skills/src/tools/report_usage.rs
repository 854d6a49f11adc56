//! `report_usage`: feedback on a skill.

use lyceum_tools::{Call, Effect, Error, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Skills, analytics::Event, service::find};

/// Maximum length of a comment, in bytes.
const MAX_COMMENT_BYTES: usize = 4 * 1024;

/// Maximum number of characters logged.
const MAX_LOGGED_CHARS: usize = 200;

/// The tool.
#[derive(Debug)]
pub(crate) struct ReportUsage;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Skill path, such as "ui/react/auth".
    skill_path: String,
    /// Whether the skill helped.
    useful: bool,
    /// What was good, wrong or missing.
    #[serde(default)]
    comment: Option<String>,
}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Always true.
    recorded: bool,
    /// A message for people.
    message: String,
}

/// Truncates a comment for the log; usage events carry all of it.
fn opening(comment: &str) -> &str {
    comment
        .char_indices()
        .nth(MAX_LOGGED_CHARS)
        .map_or(comment, |(end, _)| comment.get(..end).unwrap_or_default())
}

impl Tool for ReportUsage {
    const NAME: &'static str = "report_usage";
    const TITLE: &'static str = "Report usage";
    const DESCRIPTION: &'static str = "Tells the authors of a skill whether it helped, so that they can improve it. Call it \
        after you completed a task with a skill.";
    const EFFECT: Effect = Effect::Writes;

    type Service = Skills;
    type Args = Args;
    type Output = Output;

    async fn call(skills: &Skills, _: &Call, args: Args) -> Result<Output, Error> {
        if args.comment.as_ref().is_some_and(|comment| comment.len() > MAX_COMMENT_BYTES) {
            return Err(Error::invalid("arguments.comment", "comment: is longer than 4 KiB; say it shorter"));
        }
        let skill_set = skills.skill_set().await?;
        let skill_path = find(&skill_set, &args.skill_path)?.path.to_string();
        tracing::info!(
            skill.path = skill_path,
            useful = args.useful,
            comment = args.comment.as_deref().map(opening),
            "feedback on a skill"
        );
        let message = format!("Feedback recorded for {skill_path}");
        skills.track(
            &skill_set,
            &Event::SkillFeedback { skill_path, useful: args.useful, comment: args.comment },
        );
        Ok(Output { recorded: true, message })
    }
}
