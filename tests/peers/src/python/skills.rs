//! The Python client with skills from a Git server: the first clone, a push, and a server that is down.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::git_server::{GitServer, TOKEN};
use super::super::sample::{Sample, files};
use super::super::scene::{Scene, Target};
use super::{Mode, call, refresh, run_steps};

/// A task, and the skill for it.
const LOGIN: &str = "login session";
const LOGIN_SKILL: &str = "ui/react/auth";

/// A skill that is added later, and a task for which only it matches.
const NEW: &str = "gardening";
const TASK: &str = "prune the roses in the garden";
const NEW_FILE: &str = "skills/gardening.md";
const NEW_TEXT: &str =
    "---\nkeywords: [roses, prune]\ndescription: Looks after roses\n---\n# Roses\n\nCut above an eye.\n";

/// Calls tools before and after a push, and again when the Git server is down.
pub(in super::super) fn from_a_repository(scene: &Scene<'_>) -> Result<String> {
    let sample = Sample::make(scene)?;
    let git_server = GitServer::start(scene, &sample)?;
    let stdio = git_server.stdio(scene)?;
    sample.write(NEW_FILE, NEW_TEXT.as_bytes())?;
    // Without these files, refresh results have no findings.
    for folder in files::INVALID {
        sample.remove(&format!("skills/{folder}/SKILL.md"))?;
    }
    let push = sample.commit(scene)?;

    let find = || call("get_skill", &json!({ "context": TASK }));
    let login = call("get_skill", &json!({ "context": LOGIN }));
    let steps = vec![login, find(), refresh(), json!({ "run": push }), refresh(), find()];
    let report = run_steps(scene, Mode::Auto, &stdio, steps)?;
    has(report.result(0)?, "skill_path", &json!(LOGIN_SKILL))?;
    has(report.result(1)?, "no_match", &json!(true))?;
    let before = refreshed(report.result(2)?, 0)?;
    lists_invalid_skills(report.result(2)?)?;
    let after = refreshed(report.result(3)?, 1 + files::INVALID.len())?;
    ensure!(before != after, "the commit is still {after} after the push");
    has(report.result(4)?, "skill_path", &json!(NEW))?;
    git_server.was_requested()?;
    drop(git_server);

    let report = run_steps(scene, Mode::Auto, &stdio, vec![find(), refresh()])?;
    has(report.result(0)?, "skill_path", &json!(NEW))?;
    let failed = report.result(1)?;
    has(failed, "success", &json!(false))?;
    has(failed, "commit_hash", &json!(after))?;
    let message = failed.get("message").and_then(Value::as_str).unwrap_or_default();
    for words in ["still serving", "could not be reached"] {
        ensure!(message.contains(words), "the failed refresh does not say {words:?}: {failed}");
    }
    for answer in &report.answers {
        ensure!(!format!("{answer:?}").contains(TOKEN), "the token is in an answer: {answer:?}");
    }
    no_token_below(&scene.data_dir()?)?;
    Ok("cloned with the token, saw the push, and started again without the Git server".to_owned())
}

/// Finds a skill of the sample.
pub(in super::super) fn gets_a_skill(scene: &Scene<'_>, target: &Target) -> Result<()> {
    let report = run_steps(scene, Mode::Auto, target, vec![call("get_skill", &json!({ "context": LOGIN }))])?;
    has(report.result(0)?, "skill_path", &json!(LOGIN_SKILL))
}

/// Invalid skills are listed with the reason.
fn lists_invalid_skills(answer: &Value) -> Result<()> {
    let findings = answer.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for folder in files::INVALID {
        let file = json!(format!("{folder}/SKILL.md"));
        let found = findings.iter().find(|finding| finding.get("file") == Some(&file));
        let reason = found.and_then(|finding| finding.get("message")?.as_str()).unwrap_or_default();
        ensure!(!reason.is_empty(), "refresh_skills does not say what is wrong with {file}: {answer}");
    }
    Ok(())
}

/// The commit after a refresh with that number of changed files.
fn refreshed(answer: &Value, files_changed: usize) -> Result<&str> {
    has(answer, "success", &json!(true))?;
    has(answer, "files_changed", &json!(files_changed))?;
    answer.get("commit_hash").and_then(Value::as_str).with_context(|| format!("no commit_hash in {answer}"))
}

fn has(answer: &Value, field: &str, expected: &Value) -> Result<()> {
    ensure!(answer.get(field) == Some(expected), "`{field}` is not {expected} in {answer}");
    Ok(())
}

/// Checks that no file contains the token.
fn no_token_below(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            no_token_below(&path)?;
        } else {
            let bytes = std::fs::read(&path)?;
            let found = bytes.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes());
            ensure!(!found, "the token was written to {}", path.display());
        }
    }
    Ok(())
}
