//! The MCP Inspector's command line signs in by itself.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::scene::Scene;
use super::scene::{SignedInScene, Strangers, free_port};
use super::{SECRET, TOOL, arguments};

/// What it ends with where it would have to ask a person and may not.
const AUTH_REQUIRED: i32 = 3;

/// Calls the tool with nobody there, with a person who signs in, and once more with what it kept of that.
pub(in super::super) fn inspector(scene: &Scene<'_>, era: &str) -> Result<String> {
    let place = SignedInScene::open(scene, Strangers::StayOut)?;
    let met = meets(&place, era);
    place.server.explain(met)
}

fn meets(place: &SignedInScene<'_>, era: &str) -> Result<String> {
    let node = || place.scene.command(place.scene.tools.node());
    let before = place.finish(words(place, &mut node()?, era).arg("--stored-auth-only"))?;
    let code = before.status.code();
    ensure!(
        code == Some(AUTH_REQUIRED),
        "it ended with {code:?} before anybody signed in: {}",
        before.stderr
    );

    let mut person = place.node("person.mjs")?;
    person.arg(place.scene.tools.node());
    let callback = format!("http://127.0.0.1:{}/oauth/callback", free_port()?);
    let (answer, stderr) = place.run(words(place, &mut person, era).args(["--callback-url", &callback]))?;
    has_secret(&answer)?;
    ensure!(stderr.contains("the person signed in: 200 from MCP Inspector"), "nobody signed in:\n{stderr}");

    let (answer, _) = place.run(words(place, &mut node()?, era).arg("--stored-auth-only"))?;
    has_secret(&answer)?;
    place.who_signed_in()?;
    let count = place.count("sign_in")?;
    ensure!(count == 1, "{count} sign-ins where what was kept should have done");
    Ok("refused, signed in once, answered twice".to_owned())
}

/// The call of the tool. The address is printed in any case; that a browser may be opened is what it wants to hear
/// where there is no terminal.
fn words<'c>(place: &SignedInScene<'_>, command: &'c mut Command, era: &str) -> &'c mut Command {
    command
        .arg(place.scene.tools.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
        .env("MCP_AUTO_OPEN_ENABLED", "true")
        .env("MCP_INSPECTOR_SECRET_STORE", "file")
        .args(["--cli", "--format", "json", "--transport", "http", "--server-url", &place.server.mcp_url()])
        .args(["--protocol-era", era, "--method", "tools/call", "--tool-name", TOOL])
        .args(["--tool-args-json", &arguments().to_string()])
}

fn has_secret(answer: &str) -> Result<()> {
    let whole: Value =
        serde_json::from_str(answer).with_context(|| format!("not one JSON value: {answer}"))?;
    let content = whole.pointer("/result/structuredContent/content").and_then(Value::as_str);
    ensure!(content.is_some_and(|content| content.trim() == SECRET), "{TOOL} answered {answer}");
    Ok(())
}
