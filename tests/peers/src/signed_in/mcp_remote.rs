//! mcp-remote signs in for a client that can't: the Python client over stdio.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::scene::{AnonymousAccess, SignedInScene};
use super::{SECRET, TOOL, arguments};

/// Calls the tool through mcp-remote, which prints the URL for the user.
pub(in super::super) fn mcp_remote(scene: &Scene<'_>) -> Result<String> {
    // It only signs in if the first request returns 401, not for a single tool.
    let setup = SignedInScene::open(scene, AnonymousAccess::Refused)?;
    let node = scene.tools.node();
    let words = [node, &setup.script("person.mjs"), node, &scene.tools.package("mcp-remote/dist/proxy.js")];
    let words = words.map(|word| word.display().to_string());
    let options = [&setup.server.mcp_url(), "--allow-http", "--transport", "http-only"].map(str::to_owned);
    let target = [&words[..], &options].concat();
    let variables: serde_json::Map<_, _> =
        setup.variables().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let plan = json!({
        "mode": "auto",
        "target": target,
        "env": variables,
        "steps": [{ "tool": TOOL, "arguments": arguments() }],
    });
    let mut command = scene.command(scene.tools.python())?;
    command.arg(scene.repo.path("tests/peers/client.py")).arg(plan.to_string());
    let met = setup.run(&mut command).and_then(|(report, stderr)| {
        let report: Value =
            serde_json::from_str(&report).with_context(|| format!("not a report: {report}"))?;
        let content = report.pointer("/answers/0/structured/content").and_then(Value::as_str);
        ensure!(content.is_some_and(|content| content.trim() == SECRET), "{TOOL} answered {report}");
        ensure!(
            stderr.contains("the person signed in: 200 from MCP CLI Proxy"),
            "nobody signed in:\n{stderr}"
        );
        let tools = report.get("tools").and_then(Value::as_array).context("no tools in the report")?;
        ensure!(tools.contains(&json!(TOOL)), "{TOOL} is not listed after the sign-in, only {tools:?}");
        setup.who_signed_in()?;
        let count = setup.count("sign_in")?;
        ensure!(count == 1, "{count} sign-ins: the first requested too few scopes");
        let protocol = report.get("protocol").and_then(Value::as_str).unwrap_or_default();
        Ok(format!("{protocol}, signed in once, answered"))
    });
    setup.server.explain(met)
}
