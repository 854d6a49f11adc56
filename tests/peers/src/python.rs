//! The official Python client, alone and as the driver of mcp-remote.

mod every_tool;
mod knowledge;
mod skills;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::scene::{Scene, Target};
use super::server_info;
pub(super) use every_tool::every_tool;
pub(super) use knowledge::knowledge_base;
pub(super) use skills::{from_a_repository, gets_a_skill};

const TIMEOUT: Duration = Duration::from_secs(60);

/// How the client opens the conversation.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// Asks `server/discover`, and falls back where that is unknown.
    Auto,
    /// The `initialize` handshake.
    Legacy,
}

/// What `client.py` is told.
#[derive(Serialize)]
struct Plan<'a> {
    mode: Mode,
    target: &'a [String],
    env: &'a BTreeMap<String, String>,
    steps: Vec<Value>,
}

/// What `client.py` reports.
#[derive(Deserialize)]
struct Report {
    protocol: String,
    tools: Vec<String>,
    answers: Vec<Response>,
}

/// What a call came to.
#[derive(Debug, Deserialize)]
struct Response {
    is_error: bool,
    structured: Option<Value>,
    text: Vec<String>,
}

impl Mode {
    /// The revision both sides must agree on: a silent fall-back to the older era is a failure.
    fn protocol(self) -> &'static str {
        match self {
            Self::Auto => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

/// Lists and calls over HTTP.
pub(super) fn over_http(scene: &Scene<'_>, mode: Mode) -> Result<String> {
    let server = scene.serve()?;
    server.explain(meets(scene, mode, &at(server.mcp_url())))
}

/// mcp-remote offers our HTTP endpoint as a stdio server, and the Python client uses that.
pub(super) fn through_mcp_remote(scene: &Scene<'_>) -> Result<String> {
    let server = scene.serve()?;
    let words = [scene.tools.node().to_owned(), scene.tools.package("mcp-remote/dist/proxy.js")];
    let options = [server.mcp_url(), "--allow-http".into(), "--transport".into(), "http-only".into()];
    let words = words.iter().map(|word| word.display().to_string()).chain(options).collect();
    server.explain(meets(scene, Mode::Auto, &Target { words, variables: BTreeMap::new() }))
}

/// A server that is there already.
fn at(url: String) -> Target {
    Target { words: vec![url], variables: BTreeMap::new() }
}

fn meets(scene: &Scene<'_>, mode: Mode, target: &Target) -> Result<String> {
    let report = follow(scene, mode, target, vec![call(server_info::NAME, &json!({}))])?;
    server_info::is_listed(&report.tools.iter().map(String::as_str).collect::<Vec<_>>())?;
    let structured = report.answer(0)?;
    let version = server_info::version(Some(structured))?;
    Ok(format!("{}, {} tools, version {version}", report.protocol, report.tools.len()))
}

/// A step that calls a tool.
fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

/// Asks for a refresh, and asks again while one is under way: there is one after each start.
fn refresh() -> Value {
    let mut step = call("refresh_skills", &json!({}));
    if let Some(step) = step.as_object_mut() {
        step.insert("again_while".to_owned(), "Another refresh is in progress.".into());
    }
    step
}

/// Connects and takes the steps.
fn follow(scene: &Scene<'_>, mode: Mode, target: &Target, steps: Vec<Value>) -> Result<Report> {
    let plan = Plan { mode, target: &target.words, env: &target.variables, steps };
    let mut command = scene.command(scene.tools.python())?;
    command.arg(scene.repo.path("tests/peers/client.py")).arg(serde_json::to_string(&plan)?);
    let output = scene.output(&mut command, TIMEOUT)?;
    let report: Report = serde_json::from_str(&output).with_context(|| format!("not a report: {output}"))?;
    let expected = mode.protocol();
    ensure!(report.protocol == expected, "agreed on {} where {expected} was expected", report.protocol);
    Ok(report)
}

impl Report {
    /// The structured answer of a call, which must have succeeded.
    fn answer(&self, which: usize) -> Result<&Value> {
        let answer = self.answers.get(which).with_context(|| format!("call {which} has no answer"))?;
        ensure!(!answer.is_error, "call {which} answered with isError: {}", answer.text.join("\n"));
        answer
            .structured
            .as_ref()
            .with_context(|| format!("call {which} has no structuredContent: {answer:?}"))
    }
}
