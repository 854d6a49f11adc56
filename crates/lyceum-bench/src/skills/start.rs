//! Starting: on thousands of skills until they are served, and over stdio until the first answers.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::corpus::Corpus;
use super::lyceum::Lyceum;
use super::pipe::Pipe;
use super::{answers, milliseconds};
use crate::modern;
use lyceum_harness::scratch::Scratch;

/// Milliseconds from the start of a process until it logs that the skills of the folder are served.
pub(super) fn until_served(lyceum: &Lyceum<'_>, skills: &Path) -> Result<f64> {
    let scratch = Scratch::new()?;
    let started = Timestamp::now();
    let logged = lyceum.serve(skills, &scratch)?;
    // Lines are written a moment after they were made, so the time in the line counts.
    let log = fs::read_to_string(&logged.log)?;
    let served = served_at(&log).with_context(|| format!("no `skills are served` in the log:\n{log}"))?;
    Ok(served.duration_since(started).as_secs_f64() * 1000.0)
}

/// When a log says that skills are served.
fn served_at(log: &str) -> Option<Timestamp> {
    let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.find(|line| line.get("message").is_some_and(|text| text == "skills are served"))?;
    line.get("timestamp")?.as_str()?.parse().ok()
}

/// Milliseconds from the start of a process over stdio.
pub(super) struct FirstCallTimes {
    /// To the answer of `server/discover`.
    pub(super) discover: f64,
    /// To the answer of the first `get_skill` after it.
    pub(super) get_skill: f64,
}

/// Starts a server over stdio, asks what it is and then for a skill.
pub(super) fn first_answers(lyceum: &Lyceum<'_>, corpus: &Corpus) -> Result<FirstCallTimes> {
    let scratch = Scratch::new()?;
    let task = corpus.tasks(1).concat();
    let discover = modern::request(1, "server/discover", &json!({})).to_string();
    let get_skill = modern::call(2, "get_skill", &json!({ "context": task })).to_string();
    let mut command = lyceum.stdio(&corpus.root, &scratch)?;
    let started = Instant::now();
    let mut pipe = Pipe::start(&mut command, &scratch.path().join("server.log"))?;
    pipe.exchange(&discover)?;
    let first = milliseconds(started);
    let answer = pipe.exchange(&get_skill)?;
    let second = milliseconds(started);
    answers::of_get_skill(answer)?;
    Ok(FirstCallTimes { discover: first, get_skill: second })
}

#[cfg(test)]
mod tests;
