//! The official Python client, alone and through mcp-remote.

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

/// How the client connects.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// Sends `server/discover`, and falls back if that is unknown.
    Auto,
    /// The `initialize` handshake.
    Legacy,
}

/// The input of `client.py`.
#[derive(Serialize)]
struct Plan<'a> {
    mode: Mode,
    target: &'a [String],
    env: &'a BTreeMap<String, String>,
    steps: Vec<Value>,
}

/// The output of `client.py`.
#[derive(Deserialize)]
struct Report {
    protocol: String,
    tools: Vec<String>,
    answers: Vec<Response>,
}

/// The result of a call.
#[derive(Debug, Deserialize)]
struct Response {
    is_error: bool,
    structured: Option<Value>,
    text: Vec<String>,
}

impl Mode {
    /// The expected protocol version: a silent fallback to the earlier one is a failure.
    fn protocol(self) -> &'static str {
        match self {
            Self::Auto => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

/// Lists and calls tools over HTTP.
pub(super) fn over_http(scene: &Scene<'_>, mode: Mode) -> Result<String> {
    let server = scene.serve()?;
    server.explain(meets(scene, mode, &target_of(server.mcp_url())))
}

/// mcp-remote exposes our HTTP endpoint as a stdio server for the Python client.
pub(super) fn through_mcp_remote(scene: &Scene<'_>) -> Result<String> {
    let server = scene.serve()?;
    let words = [scene.tools.node().to_owned(), scene.tools.package("mcp-remote/dist/proxy.js")];
    let options = [server.mcp_url(), "--allow-http".into(), "--transport".into(), "http-only".into()];
    let words = words.iter().map(|word| word.display().to_string()).chain(options).collect();
    server.explain(meets(scene, Mode::Auto, &Target { words, variables: BTreeMap::new() }))
}

/// A running server.
fn target_of(url: String) -> Target {
    Target { words: vec![url], variables: BTreeMap::new() }
}

fn meets(scene: &Scene<'_>, mode: Mode, target: &Target) -> Result<String> {
    let report = run_steps(scene, mode, target, vec![call(server_info::NAME, &json!({}))])?;
    server_info::is_listed(&report.tools.iter().map(String::as_str).collect::<Vec<_>>())?;
    let structured = report.result(0)?;
    let version = server_info::version(Some(structured))?;
    Ok(format!("{}, {} tools, version {version}", report.protocol, report.tools.len()))
}

/// A step that calls a tool.
fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

/// A step that refreshes skills, and repeats while another refresh is running, as after each start.
fn refresh() -> Value {
    let mut step = call("refresh_skills", &json!({}));
    if let Some(step) = step.as_object_mut() {
        step.insert("again_while".to_owned(), "Another refresh is in progress.".into());
    }
    step
}

/// Connects and runs the steps.
fn run_steps(scene: &Scene<'_>, mode: Mode, target: &Target, steps: Vec<Value>) -> Result<Report> {
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
    /// The structured result of a call, which must have succeeded.
    fn result(&self, which: usize) -> Result<&Value> {
        let result = self.answers.get(which).with_context(|| format!("call {which} has no result"))?;
        ensure!(!result.is_error, "call {which} returned isError: {}", result.text.join("\n"));
        result
            .structured
            .as_ref()
            .with_context(|| format!("call {which} has no structuredContent: {result:?}"))
    }
}
