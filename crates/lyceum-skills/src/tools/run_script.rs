//! `run_script`: runs a script of a skill in the sandbox.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use lyceum_content::skill::{Execution, NetworkChoice, Skill, Workspace};
use lyceum_model::{ErrorCode, RelPath, Tier};
use lyceum_sandbox::{Network, ScriptOutcome, StopReason};
use lyceum_tools::{Call, Effect, Error, Faults, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    SkillSet, Skills,
    analytics::Event,
    script::{Request, deadline, missing},
    service::{find, invalid_path},
};

/// Exit code of a script that was killed because its call was cancelled.
const CANCELLED_EXIT_CODE: i32 = 137;

/// The tool.
#[derive(Debug)]
pub(crate) struct RunScript;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Skill path, such as "ui/react/auth".
    skill_path: String,
    /// Script file path, as get_skill names it.
    file: String,
    /// Named arguments; the script gets each as an environment variable SKILL_ARG_ plus its name in capitals.
    #[serde(default)]
    args: BTreeMap<String, String>,
    /// Working directory: a folder of the skill, or the absolute path of a folder in the workspace. Default: the skill's
    /// folder.
    #[serde(default)]
    cwd: Option<String>,
}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the exit code is 0.
    success: bool,
    /// Exit code; 128 plus the signal number if a signal ended it.
    exit_code: i32,
    /// Standard output.
    stdout: String,
    /// Standard error.
    stderr: String,
    /// Duration.
    duration_ms: u64,
    /// The script.
    script: String,
    /// Sandbox level: strict, standard or none.
    sandbox: &'static str,
    /// The workspace the script could access, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceOutput>,
    /// Set if output was truncated (scripts.max_output_bytes).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// A folder outside of the skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorkspaceOutput {
    /// The folder; `SKILL_WORKSPACE` in the script.
    path: String,
    /// Access: read or write.
    access: &'static str,
}

impl WorkspaceOutput {
    fn of(workspace: &Workspace) -> Self {
        Self { path: workspace.path.display().to_string(), access: workspace.access.as_str() }
    }
}

impl Tool for RunScript {
    const NAME: &'static str = "run_script";
    const TITLE: &'static str = "Run a script";
    const DESCRIPTION: &'static str = "Runs a script of a skill on the server, in a sandbox, and returns \
        what it wrote. Only for scripts whose execution is \"server\" in the result of get_skill; get others with \
        get_asset and run them yourself.";
    const TIER: Tier = Tier::Vibecoder;
    const SCOPES: &'static [&'static str] = &["skills:run"];
    const FAULTS: Faults = Faults::InResultUnlessDenied;
    const EFFECT: Effect = Effect::Destroys;

    type Service = Skills;
    type Args = Args;
    type Output = Output;

    fn deadline(skills: &Skills) -> Option<Duration> {
        let skill_set = skills.state().borrow().skill_set.clone()?;
        Some(deadline(skill_set.settings.scripts.timeout_seconds))
    }

    async fn call(skills: &Skills, _: &Call, args: Args) -> Result<Output, Error> {
        let skill_set = skills.skill_set().await?;
        let settings = &skill_set.settings.scripts;
        if !settings.enabled {
            return Err(refused(
                ErrorCode::Forbidden,
                "scripts are disabled (scripts.enabled = false); the one who runs this server can enable them",
            ));
        }
        let skill = find(&skill_set, &args.skill_path)?;
        let file = RelPath::parse(&args.file).map_err(|error| invalid_path("file", &error))?;
        let found = skill_set.index.find_script(skill, &file);
        let (script, folder, place) = found.ok_or_else(|| not_declared(&file))?;
        if script.execution != Execution::Server {
            return Err(refused(ErrorCode::ValidationError, not_by_server(skill, &file, &place)));
        }
        let missing = missing(&script, &args.args);
        if !missing.is_empty() {
            return Err(refused(
                ErrorCode::ValidationError,
                format!("args: missing required arguments: {}", missing.join(", ")),
            ));
        }
        if !settings.allowed_extensions.iter().any(|allowed| allowed == file.extension()) {
            let allowed = settings.allowed_extensions.join(", ");
            let text = format!(
                "the extension {:?} is not allowed; allowed are {allowed} (scripts.allowed_extensions)",
                file.extension()
            );
            return Err(refused(ErrorCode::ValidationError, text));
        }
        // The specified order of checks: the file before the runner.
        if let Some(refusal) = skill_set.refusal_of(&place, &file) {
            return Err(refusal);
        }
        let Some(runner) = settings.runners.get(file.extension()) else {
            let text =
                format!("no runner is configured for {:?}; add one to scripts.runners", file.extension());
            return Err(refused(ErrorCode::ValidationError, text));
        };
        let network = match (script.network, settings.network) {
            (false, _) => Network::None,
            (true, NetworkChoice::None) => return Err(no_network(&file)),
            (true, NetworkChoice::Public) => Network::Public,
            (true, NetworkChoice::Any) => Network::Any,
        };
        let request = Request {
            args: args.args.clone(),
            runner: runner.clone(),
            network,
            cwd: args.cwd,
            file: file.clone(),
            folder,
        };
        let executed = RunRecord {
            skills,
            skill_set: &skill_set,
            skill_path: skill.path.to_string(),
            file: file.to_string(),
            args_provided: args.args.into_keys().collect(),
            began: Instant::now(),
            result: None,
        };
        let finished = executed.finish(skills.scripts.run(&skill_set, request).await)?;
        let output = Output {
            success: finished.exit_code == 0 && finished.stopped.is_none(),
            exit_code: finished.exit_code,
            truncated: finished.stdout.truncated || finished.stderr.truncated,
            stdout: finished.stdout.text,
            stderr: with_reason(finished.stderr.text, finished.stopped),
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            script: file.to_string(),
            sandbox: finished.level.as_str(),
            workspace: settings.workspace.as_ref().map(WorkspaceOutput::of),
        };
        Ok(output)
    }
}

/// A run that is recorded however it ends, even if the call is cancelled.
struct RunRecord<'a> {
    skills: &'a Skills,
    skill_set: &'a SkillSet,
    skill_path: String,
    file: String,
    args_provided: Vec<String>,
    began: Instant,
    result: Option<(bool, i32)>,
}

impl RunRecord<'_> {
    /// Records the end of the run, if it ran; a refusal before the start is not an execution.
    fn finish(mut self, ended: Result<ScriptOutcome, Error>) -> Result<ScriptOutcome, Error> {
        match &ended {
            Ok(finished) => {
                self.result =
                    Some((finished.exit_code == 0 && finished.stopped.is_none(), finished.exit_code));
            }
            Err(_) => self.file.clear(),
        }
        ended
    }
}

impl Drop for RunRecord<'_> {
    fn drop(&mut self) {
        if self.file.is_empty() {
            return;
        }
        let (success, exit_code) = self.result.unwrap_or((false, CANCELLED_EXIT_CODE));
        let event = Event::ScriptExecuted {
            skill_path: std::mem::take(&mut self.skill_path),
            file: std::mem::take(&mut self.file),
            execution_mode: Execution::Server.as_str().to_owned(),
            success,
            exit_code,
            duration_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            args_provided: std::mem::take(&mut self.args_provided),
        };
        self.skills.track(self.skill_set, &event);
    }
}

fn not_declared(file: &RelPath) -> Error {
    let text = format!(
        "script not declared: {:?} is not among the scripts of the skill; get_skill names them",
        file.as_str()
    );
    refused(ErrorCode::NotFound, text)
}

/// The refusal of a script that the client should run, with what the operator can do about it.
fn not_by_server(skill: &Skill, file: &RelPath, place: &RelPath) -> String {
    let text = format!(
        "{:?} is not run by the server (execution: \"claude\"): get it with get_asset and run it with your own shell",
        file.as_str()
    );
    if skill.standard.is_none() {
        return text;
    }
    format!(
        "{text}; to let the server run it, the one who runs it adds {:?} to scripts.allow of [skills] in lyceum.toml",
        place.as_str()
    )
}

fn no_network(file: &RelPath) -> Error {
    let text = format!(
        "{:?} declares network: true, and scripts have no network here (skills.scripts.network = \"none\"); the one who \
         runs this server can set it to \"public\"",
        file.as_str()
    );
    refused(ErrorCode::Forbidden, text)
}

/// Standard error, followed by the reason if the script was stopped.
fn with_reason(mut stderr: String, stopped: Option<StopReason>) -> String {
    if let Some(reason) = stopped {
        if !stderr.is_empty() && !stderr.ends_with('\n') {
            stderr.push('\n');
        }
        stderr.push_str(&format!("[skills-mcp] Script killed: {reason}."));
    }
    stderr
}

fn refused(code: ErrorCode, message: impl Into<String>) -> Error {
    Error::Failed { code, message: message.into() }
}
