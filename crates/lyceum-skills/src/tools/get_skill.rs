//! `get_skill`: the skill for a task, with everything that belongs to it.

use lyceum_content::skill::{Asset, Hit, Inherited, Match, Query, Script, Skill};
use lyceum_model::ErrorCode;
use lyceum_tools::{Call, Error, Tool, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    SkillSet, Skills,
    analytics::Event,
    profile::with_profile,
    ranking::{self, Ranking, Reason, Task},
    service::find,
};

/// Maximum length of the task description, in bytes.
const MAX_CONTEXT_BYTES: usize = 16 * 1024;

/// Maximum size of a skill with inherited content, in bytes.
const MAX_CONTENT_BYTES: usize = 4 * 1024 * 1024;

/// The tool.
#[derive(Debug)]
pub(crate) struct GetSkill;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Free-text task description, such as "React component for the login".
    #[serde(default)]
    context: Option<String>,
    /// Path of the skill, if known: from list_skills, or from the candidates of an ambiguous match.
    #[serde(default)]
    skill_path: Option<String>,
}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("type" = "object"))]
pub(crate) enum Output {
    /// No skill matches.
    NoMatch {
        /// Always true.
        no_match: bool,
        /// A message for people.
        message: &'static str,
    },
    /// Several skills match about equally well.
    Ambiguous {
        /// Always true.
        ambiguous: bool,
        /// The candidates, best first.
        candidates: Vec<Candidate>,
        /// What to do.
        message: &'static str,
    },
    /// The skill.
    Skill(Box<SkillOutput>),
}

/// A candidate.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Candidate {
    /// Its path.
    skill_path: String,
    /// Score.
    score: f64,
    /// What it is for.
    description: String,
    /// Keywords that matched, or words of the task if the skill declares no keywords.
    matched_keywords: Vec<String>,
    /// Why it is a candidate, if it declares no keywords.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A skill with its files and inherited content.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillOutput {
    /// Its path.
    skill_path: String,
    /// Score.
    score: f64,
    /// Keywords that matched, or words of the task if the skill declares no keywords.
    matched_keywords: Vec<String>,
    /// Content, preceded by that of its parents.
    content: String,
    /// Its assets; read them with get_asset.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    assets: Vec<Asset>,
    /// Its scripts: call run_script if `execution` is `server`, otherwise get_asset.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    scripts: Vec<Script>,
    /// Assets inherited from its parents; `from` names the parent.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    inherited_assets: Vec<Inherited<Asset>>,
    /// Scripts inherited from its parents; `from` names the parent.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    inherited_scripts: Vec<Inherited<Script>>,
}

impl Tool for GetSkill {
    const NAME: &'static str = "get_skill";
    const TITLE: &'static str = "Get a skill";
    const DESCRIPTION: &'static str = "Finds the team's skill (rules, patterns, templates, scripts) for a task and \
        returns it whole, with what it inherits. Call it before you start on a task, with a short description of the \
        task as context. If the answer is ambiguous, call it again with the skill_path of the candidate that fits.";

    type Service = Skills;
    type Args = Args;
    type Output = Output;

    fn contract(skills: &Skills, spec: ToolSpec) -> ToolSpec {
        with_profile(skills, spec)
    }

    async fn call(skills: &Skills, _: &Call, args: Args) -> Result<Output, Error> {
        if args.context.is_none() && args.skill_path.is_none() {
            let message = "context: is missing; describe the task, or give a skill_path";
            return Err(Error::invalid("arguments.context", message));
        }
        let context = args.context.unwrap_or_default();
        if context.len() > MAX_CONTEXT_BYTES {
            let message = "context: is longer than 16 KiB; describe the task in a few sentences".to_owned();
            return Err(Error::Failed { code: ErrorCode::InvalidQuery, message });
        }
        let skill_set = skills.skill_set().await?;
        let settings = &skill_set.settings.matching;
        let query = skill_set.index.query(&context);
        let cosines = skills.embedding.cosines(&skill_set.ranker, &context).await;
        // Split into words only if there is something to rank.
        let task = Task::new(if skill_set.ranker.is_empty() { "" } else { &context });
        let ranking = skill_set.ranker.rank(&task, cosines.as_deref());
        let (by_keywords, ranked) = (query.outcome(settings), ranking.outcome(settings.max_results));
        let outcome = ranking::merge(by_keywords, ranked, settings.max_results);
        if let Some(path) = &args.skill_path {
            let skill = find(&skill_set, path)?;
            // Without a task description, the requested skill fits perfectly.
            let is_exact = context.trim().is_empty();
            let score = if is_exact { 1.0 } else { score(&skill_set, skill, &query, &ranking) };
            let was_ambiguous = matches!(outcome, Match::Ambiguous(_));
            let request = Request { context: &context, task: &task, query, score, was_ambiguous };
            return serve(skills, &skill_set, skill, &request);
        }
        match outcome {
            Match::Nothing => {
                skills.track(&skill_set, &Event::NoMatch { context });
                Ok(Output::NoMatch { no_match: true, message: "No skill matches the given context." })
            }
            Match::Ambiguous(hits) => {
                let candidates: Vec<Candidate> =
                    hits.iter().filter_map(|hit| candidate(&skill_set, &task, &query, hit)).collect();
                let paths = candidates.iter().map(|candidate| candidate.skill_path.clone()).collect();
                skills.track(&skill_set, &Event::Ambiguous { context, candidates: paths });
                let message = "Multiple skills match. Specify your need or pick a skill_path.";
                Ok(Output::Ambiguous { ambiguous: true, candidates, message })
            }
            Match::One(Hit { skill, score }) => {
                let skill = skill_set.index.skills().get(skill);
                let skill = skill.ok_or_else(|| Error::internal("a hit without a skill"))?;
                let request = Request { context: &context, task: &task, query, score, was_ambiguous: false };
                serve(skills, &skill_set, skill, &request)
            }
        }
    }
}

/// The request, and how well the skill fits it.
struct Request<'a> {
    context: &'a str,
    task: &'a Task<'a>,
    query: Query<'a>,
    score: f64,
    was_ambiguous: bool,
}

fn serve(
    skills: &Skills,
    skill_set: &SkillSet,
    skill: &Skill,
    request: &Request<'_>,
) -> Result<Output, Error> {
    let index = &skill_set.index;
    let content = index.content(skill, MAX_CONTENT_BYTES).ok_or_else(|| Error::Failed {
        code: ErrorCode::PayloadTooLarge,
        message: format!(
            "{:?} and what it inherits have more than 4 MiB; split it, or write inherit: false",
            skill.path.as_str()
        ),
    })?;
    let found = SkillOutput {
        skill_path: skill.path.to_string(),
        score: request.score,
        matched_keywords: match skill_set.text_of(skill) {
            Some(text) => Reason::of(request.task, text).words(),
            None => owned(request.query.matched(&skill.keywords)),
        },
        content,
        assets: skill.assets.clone(),
        scripts: skill.scripts.clone(),
        inherited_assets: index.inherited_assets(skill),
        inherited_scripts: index.inherited_scripts(skill),
    };
    let event = Event::SkillServed {
        context: request.context.to_owned(),
        skill_path: found.skill_path.clone(),
        score: request.score,
        matched_keywords: found.matched_keywords.clone(),
        was_ambiguous: request.was_ambiguous,
    };
    skills.track(skill_set, &event);
    Ok(Output::Skill(Box::new(found)))
}

/// How well a requested skill fits the task.
fn score(skill_set: &SkillSet, skill: &Skill, query: &Query<'_>, ranking: &Ranking<'_>) -> f64 {
    let Some(place) = skill_set.index.place_of(skill) else { return 0.0 };
    if skill.keywords.is_empty() { ranking.score(place).unwrap_or(0.0) } else { query.score(place) }
}

fn candidate(skill_set: &SkillSet, task: &Task<'_>, query: &Query<'_>, hit: &Hit) -> Option<Candidate> {
    let skill = skill_set.index.skills().get(hit.skill)?;
    let reason = skill_set.ranker.text_of(hit.skill).map(|text| Reason::of(task, text));
    Some(Candidate {
        skill_path: skill.path.to_string(),
        score: hit.score,
        description: skill.description.clone(),
        matched_keywords: match &reason {
            Some(reason) => reason.words(),
            None => owned(query.matched(&skill.keywords)),
        },
        reason: reason.map(|reason| reason.line()),
    })
}

fn owned(keywords: Vec<&str>) -> Vec<String> {
    keywords.into_iter().map(str::to_owned).collect()
}
