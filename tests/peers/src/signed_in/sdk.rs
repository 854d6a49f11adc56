//! The official clients for programs: TypeScript, the old one and the new one, and Python.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::scene::{SignedInScene, Strangers};
use super::{SECRET, TOOL, arguments};

/// What `client.mjs` and `client.py` report.
#[derive(Deserialize)]
struct Report {
    stranger: Stranger,
    member: Member,
}

/// A program without a sign-in.
#[derive(Deserialize)]
struct Stranger {
    tools: Vec<String>,
    /// What it was told, or `false`.
    refused: Value,
}

/// The same program with one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Member {
    protocol: String,
    tools: Vec<String>,
    /// After the sign-in, and after the access token was over.
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

/// The client of a package for TypeScript, `client` or `sdk`.
pub(in super::super) fn typescript(scene: &Scene<'_>, package: &str, mode: &str) -> Result<String> {
    let place = SignedInScene::open(scene, Strangers::Read)?;
    let mut command = place.node("client.mjs")?;
    command.args([package, mode, &place.server.mcp_url(), &call().to_string()]);
    let met = place.run(&mut command).and_then(|(report, _)| judge(&place, &report, mode));
    place.server.explain(met)
}

/// The client for Python.
pub(in super::super) fn python(scene: &Scene<'_>, mode: &str) -> Result<String> {
    let place = SignedInScene::open(scene, Strangers::Read)?;
    let login = [scene.tools.node().to_owned(), place.script("login.mjs")];
    let plan = json!({ "mode": mode, "url": place.server.mcp_url(), "call": call(), "login": login });
    let mut command = scene.command(scene.tools.python())?;
    command.arg(place.script("client.py")).arg(plan.to_string()).envs(place.variables());
    let met = place.run(&mut command).and_then(|(report, _)| judge(&place, &report, mode));
    place.server.explain(met)
}

fn call() -> Value {
    json!({ "name": TOOL, "arguments": arguments() })
}

fn judge(place: &SignedInScene<'_>, report: &str, mode: &str) -> Result<String> {
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
    ensure!(member.sign_ins == 1, "the person was asked {} times", member.sign_ins);
    ensure!(member.is_renewed, "the client did not renew its tokens");
    // A silent fall-back to the older era is a failure.
    let expected = if mode == "auto" { "2026-07-28" } else { "2025-11-25" };
    ensure!(member.protocol == expected, "agreed on {} where {expected} was expected", member.protocol);
    let who = place.who_signed_in()?;
    // A long name is cut in the audit log.
    let is_named =
        who.split_once('…').map_or(who == member.client, |(opening, _)| member.client.starts_with(opening));
    ensure!(is_named, "{who} signed in, and not {}", member.client);
    Ok(format!("{expected}, refused, signed in once, answered, renewed, answered again"))
}
