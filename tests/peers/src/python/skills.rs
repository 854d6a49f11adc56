//! The Python client and skills that come from a Git server: the first clone, a push, and a server that is gone.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::git_server::{GitServer, TOKEN};
use super::super::sample::{Sample, files};
use super::super::scene::{Scene, Target};
use super::{Mode, call, follow, refresh};

/// A task, and the skill for it.
const LOGIN: &str = "login session";
const LOGIN_SKILL: &str = "ui/react/auth";

/// A skill that is not there at first, and a task that it alone is for.
const NEW: &str = "gardening";
const TASK: &str = "prune the roses in the garden";
const NEW_FILE: &str = "skills/gardening.md";
const NEW_TEXT: &str =
    "---\nkeywords: [roses, prune]\ndescription: Looks after roses\n---\n# Roses\n\nCut above an eye.\n";

/// Asks before and after a push, and once more when the Git server is gone.
pub(in super::super) fn from_a_repository(scene: &Scene<'_>) -> Result<String> {
    let sample = Sample::make(scene)?;
    let git_server = GitServer::start(scene, &sample)?;
    let stdio = git_server.stdio(scene)?;
    sample.write(NEW_FILE, NEW_TEXT.as_bytes())?;
    // With these gone there is nothing left to complain of, and answers have no findings any more.
    for folder in files::INVALID {
        sample.remove(&format!("skills/{folder}/SKILL.md"))?;
    }
    let push = sample.commit(scene)?;

    let find = || call("get_skill", &json!({ "context": TASK }));
    let login = call("get_skill", &json!({ "context": LOGIN }));
    let steps = vec![login, find(), refresh(), json!({ "run": push }), refresh(), find()];
    let report = follow(scene, Mode::Auto, &stdio, steps)?;
    has(report.answer(0)?, "skill_path", &json!(LOGIN_SKILL))?;
    has(report.answer(1)?, "no_match", &json!(true))?;
    let before = refreshed(report.answer(2)?, 0)?;
    tells_of_invalid_skills(report.answer(2)?)?;
    let after = refreshed(report.answer(3)?, 1 + files::INVALID.len())?;
    ensure!(before != after, "the commit is still {after} after the push");
    has(report.answer(4)?, "skill_path", &json!(NEW))?;
    git_server.was_requested()?;
    drop(git_server);

    let report = follow(scene, Mode::Auto, &stdio, vec![find(), refresh()])?;
    has(report.answer(0)?, "skill_path", &json!(NEW))?;
    let failed = report.answer(1)?;
    has(failed, "success", &json!(false))?;
    has(failed, "commit_hash", &json!(after))?;
    let message = failed.get("message").and_then(Value::as_str).unwrap_or_default();
    for words in ["served on", "could not be reached"] {
        ensure!(message.contains(words), "the failed refresh does not say {words:?}: {failed}");
    }
    for answer in &report.answers {
        ensure!(!format!("{answer:?}").contains(TOKEN), "the token is in an answer: {answer:?}");
    }
    no_token_below(&scene.data_dir()?)?;
    Ok("cloned with the token, saw the push, and started again without the Git server".to_owned())
}

/// Finds a skill of the sample, wherever it comes from.
pub(in super::super) fn gets_a_skill(scene: &Scene<'_>, target: &Target) -> Result<()> {
    let report = follow(scene, Mode::Auto, target, vec![call("get_skill", &json!({ "context": LOGIN }))])?;
    has(report.answer(0)?, "skill_path", &json!(LOGIN_SKILL))
}

/// Skills that are not served as meant are named with the reason.
fn tells_of_invalid_skills(answer: &Value) -> Result<()> {
    let findings = answer.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for folder in files::INVALID {
        let file = json!(format!("{folder}/SKILL.md"));
        let found = findings.iter().find(|finding| finding.get("file") == Some(&file));
        let reason = found.and_then(|finding| finding.get("message")?.as_str()).unwrap_or_default();
        ensure!(!reason.is_empty(), "refresh_skills does not say what is wrong with {file}: {answer}");
    }
    Ok(())
}

/// The commit after a refresh that found so many changed files.
fn refreshed(answer: &Value, files_changed: usize) -> Result<&str> {
    has(answer, "success", &json!(true))?;
    has(answer, "files_changed", &json!(files_changed))?;
    answer.get("commit_hash").and_then(Value::as_str).with_context(|| format!("no commit_hash in {answer}"))
}

fn has(answer: &Value, field: &str, expected: &Value) -> Result<()> {
    ensure!(answer.get(field) == Some(expected), "`{field}` is not {expected} in {answer}");
    Ok(())
}

/// Nothing that survives may hold the token.
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
