//! The MCP Inspector's command line: lists the tools and calls `server_info`, in either era.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::scene::Scene;
use super::server_info;

const LIMIT: Duration = Duration::from_secs(60);

/// Lists and calls over HTTP.
pub(super) fn over_http(scene: &Scene<'_>, era: &str) -> Result<String> {
    let server = scene.serve()?;
    server.explain(meets(scene, era, &["--transport", "http"], &[server.mcp_url()]))
}

/// Lists and calls over stdio.
pub(super) fn over_stdio(scene: &Scene<'_>, era: &str) -> Result<String> {
    meets(scene, era, &[], &scene.stdio()?)
}

fn meets(scene: &Scene<'_>, era: &str, transport: &[&str], target: &[String]) -> Result<String> {
    let ask = |method: &[&str]| {
        let mut command = scene.command(scene.tools.node())?;
        command.arg(scene.tools.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js"));
        command.args(["--cli", "--format", "json", "--protocol-era", era]).args(transport);
        command.args(method).arg("--").args(target);
        result(&scene.output(&mut command, LIMIT)?)
    };
    // `--strict` fails on schemas that some clients cannot take.
    let listed = ask(&["--method", "tools/list", "--strict"])?;
    let tools = listed.get("tools").and_then(Value::as_array).context("tools/list has no `tools`")?;
    let names: Vec<_> = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
    server_info::is_listed(&names)?;

    let answer =
        ask(&["--method", "tools/call", "--tool-name", server_info::NAME, "--tool-args-json", "{}"])?;
    let version = server_info::version(answer.get("structuredContent"))?;
    Ok(format!("{} tools, version {version}", names.len()))
}

/// The Inspector wraps what the server answered in `{"result": …}`.
fn result(output: &str) -> Result<Value> {
    let whole: Value =
        serde_json::from_str(output).with_context(|| format!("not one JSON value: {output}"))?;
    whole.get("result").cloned().with_context(|| format!("no `result` in {output}"))
}
