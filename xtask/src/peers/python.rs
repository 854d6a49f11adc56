//! The official Python client, alone and as the driver of mcp-remote.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::scene::Scene;
use super::server_info;

const LIMIT: Duration = Duration::from_secs(60);

/// How the client opens the conversation.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// Asks `server/discover`, and falls back where that is unknown.
    Auto,
    /// The `initialize` handshake.
    Legacy,
}

/// What `client.py` reports.
#[derive(Deserialize)]
struct Report {
    protocol: String,
    tools: Vec<String>,
    is_error: bool,
    structured: Option<Value>,
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Legacy => "legacy",
        }
    }

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
    server.explain(meets(scene, mode, &[server.mcp_url()]))
}

/// Lists and calls over stdio.
pub(super) fn over_stdio(scene: &Scene<'_>, mode: Mode) -> Result<String> {
    meets(scene, mode, &scene.stdio()?)
}

/// mcp-remote offers our HTTP endpoint as a stdio server, and the Python client uses that.
pub(super) fn through_mcp_remote(scene: &Scene<'_>) -> Result<String> {
    let server = scene.serve()?;
    let words = [scene.tools.node().to_owned(), scene.tools.package("mcp-remote/dist/proxy.js")];
    let options = [server.mcp_url(), "--allow-http".into(), "--transport".into(), "http-only".into()];
    let bridge: Vec<_> = words.iter().map(|word| word.display().to_string()).chain(options).collect();
    server.explain(meets(scene, Mode::Auto, &bridge))
}

fn meets(scene: &Scene<'_>, mode: Mode, target: &[String]) -> Result<String> {
    let mut command = scene.command(scene.tools.python())?;
    command.arg(scene.repo.path("tests/peers/client.py")).arg(mode.word()).args(target);
    let output = scene.output(&mut command, LIMIT)?;
    let report: Report = serde_json::from_str(&output).with_context(|| format!("not a report: {output}"))?;

    let expected = mode.protocol();
    ensure!(report.protocol == expected, "agreed on {} where {expected} was expected", report.protocol);
    server_info::is_listed(&report.tools.iter().map(String::as_str).collect::<Vec<_>>())?;
    ensure!(!report.is_error, "`{}` answered with isError: {:?}", server_info::NAME, report.structured);
    let version = server_info::version(report.structured.as_ref())?;
    Ok(format!("{expected}, {} tools, version {version}", report.tools.len()))
}
