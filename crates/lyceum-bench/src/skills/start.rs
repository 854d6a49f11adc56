//! Start-up: with thousands of skills until they are served, and over stdio until the first responses.

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

/// Milliseconds from process start until the log says that the skills are served.
pub(super) fn until_served(lyceum: &Lyceum<'_>, skills: &Path) -> Result<f64> {
    let scratch = Scratch::new()?;
    let started = Timestamp::now();
    let logged = lyceum.serve(skills, &scratch)?;
    // Log lines are written with a delay, so use the timestamp in the line.
    let log = fs::read_to_string(&logged.log)?;
    let served = served_at(&log).with_context(|| format!("no `skills are served` in the log:\n{log}"))?;
    Ok(served.duration_since(started).as_secs_f64() * 1000.0)
}

/// Timestamp of the log line `skills are served`.
fn served_at(log: &str) -> Option<Timestamp> {
    let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.find(|line| line.get("message").is_some_and(|text| text == "skills are served"))?;
    line.get("timestamp")?.as_str()?.parse().ok()
}

/// Milliseconds from process start over stdio.
pub(super) struct FirstCallTimes {
    /// Until the response to `server/discover`.
    pub(super) discover: f64,
    /// Until the response to the first `get_skill` after it.
    pub(super) get_skill: f64,
}

/// Starts a server over stdio and calls `server/discover`, then `get_skill`.
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
    let response = pipe.exchange(&get_skill)?;
    let second = milliseconds(started);
    answers::parse_get_skill(response)?;
    Ok(FirstCallTimes { discover: first, get_skill: second })
}

#[cfg(test)]
mod tests;
