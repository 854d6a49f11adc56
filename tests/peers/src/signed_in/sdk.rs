//! The official SDKs: TypeScript (both packages) and Python.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::scene::{AnonymousAccess, SignedInScene};
use super::{SECRET, TOOL, arguments};

/// The output of `client.mjs` and `client.py`.
#[derive(Deserialize)]
struct Report {
    stranger: Stranger,
    member: Member,
}

/// The client without a sign-in.
#[derive(Deserialize)]
struct Stranger {
    tools: Vec<String>,
    /// The error message, or `false`.
    refused: Value,
}

/// The client after the sign-in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Member {
    protocol: String,
    tools: Vec<String>,
    /// After the sign-in, and after the access token expired.
    answers: [CallResult; 2],
    sign_ins: usize,
    is_renewed: bool,
    client: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    is_error: Option<bool>,
    structured_content: Value,
}

/// A TypeScript package, `client` or `sdk`.
pub(in super::super) fn typescript(scene: &Scene<'_>, package: &str, mode: &str) -> Result<String> {
    let setup = SignedInScene::open(scene, AnonymousAccess::Public)?;
    let mut command = setup.node("client.mjs")?;
    command.args([package, mode, &setup.server.mcp_url(), &call().to_string()]);
    let met = setup.run(&mut command).and_then(|(report, _)| judge(&setup, &report, mode));
    setup.server.explain(met)
}

/// The Python SDK.
pub(in super::super) fn python(scene: &Scene<'_>, mode: &str) -> Result<String> {
    let setup = SignedInScene::open(scene, AnonymousAccess::Public)?;
    let login = [scene.tools.node().to_owned(), setup.script("login.mjs")];
    let plan = json!({ "mode": mode, "url": setup.server.mcp_url(), "call": call(), "login": login });
    let mut command = scene.command(scene.tools.python())?;
    command.arg(setup.script("client.py")).arg(plan.to_string()).envs(setup.variables());
    let met = setup.run(&mut command).and_then(|(report, _)| judge(&setup, &report, mode));
    setup.server.explain(met)
}

fn call() -> Value {
    json!({ "name": TOOL, "arguments": arguments() })
}

fn judge(setup: &SignedInScene<'_>, report: &str, mode: &str) -> Result<String> {
    let Report { stranger, member } =
        serde_json::from_str(report).with_context(|| format!("not a report: {report}"))?;
    let lists = |tools: &[String]| tools.iter().any(|tool| tool == TOOL);
    ensure!(!lists(&stranger.tools), "{TOOL} is listed without a sign-in");
    ensure!(stranger.refused.is_string(), "{TOOL} answers without a sign-in");
    ensure!(lists(&member.tools), "{TOOL} is not listed after the sign-in, only {:?}", member.tools);
    for CallResult { is_error, structured_content } in &member.answers {
        let content = structured_content.get("content").and_then(Value::as_str).unwrap_or_default();
        ensure!(*is_error != Some(true) && content.trim() == SECRET, "{TOOL} answered {structured_content}");
    }
    ensure!(member.sign_ins == 1, "the user was asked {} times", member.sign_ins);
    ensure!(member.is_renewed, "the client did not refresh its tokens");
    // A silent fallback to the earlier version is a failure.
    let expected = if mode == "auto" { "2026-07-28" } else { "2025-11-25" };
    ensure!(member.protocol == expected, "agreed on {} where {expected} was expected", member.protocol);
    let who = setup.who_signed_in()?;
    // A long name is truncated in the audit log.
    let is_named =
        who.split_once('…').map_or(who == member.client, |(opening, _)| member.client.starts_with(opening));
    ensure!(is_named, "{who} signed in, and not {}", member.client);
    Ok(format!("{expected}, refused, signed in once, answered, renewed, answered again"))
}
