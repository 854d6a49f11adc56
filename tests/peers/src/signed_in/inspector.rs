//! The command line of the MCP Inspector signs in by itself.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::scene::Scene;
use super::scene::{AnonymousAccess, SignedInScene, free_port};
use super::{SECRET, TOOL, arguments};

/// Its exit code if sign-in is needed but not allowed.
const AUTH_REQUIRED: i32 = 3;

/// Calls the tool without a user, with a user who signs in, and again with the stored tokens.
pub(in super::super) fn inspector(scene: &Scene<'_>, era: &str) -> Result<String> {
    let setup = SignedInScene::open(scene, AnonymousAccess::Refused)?;
    let met = meets(&setup, era);
    setup.server.explain(met)
}

fn meets(setup: &SignedInScene<'_>, era: &str) -> Result<String> {
    let node = || setup.scene.command(setup.scene.tools.node());
    let before = setup.finish(words(setup, &mut node()?, era).arg("--stored-auth-only"))?;
    let code = before.status.code();
    ensure!(
        code == Some(AUTH_REQUIRED),
        "it ended with {code:?} before anybody signed in: {}",
        before.stderr
    );

    let mut person = setup.node("person.mjs")?;
    person.arg(setup.scene.tools.node());
    let callback = format!("http://127.0.0.1:{}/oauth/callback", free_port()?);
    let (answer, stderr) = setup.run(words(setup, &mut person, era).args(["--callback-url", &callback]))?;
    has_secret(&answer)?;
    ensure!(stderr.contains("the person signed in: 200 from MCP Inspector"), "nobody signed in:\n{stderr}");

    let (answer, _) = setup.run(words(setup, &mut node()?, era).arg("--stored-auth-only"))?;
    has_secret(&answer)?;
    setup.who_signed_in()?;
    let count = setup.count("sign_in")?;
    ensure!(count == 1, "{count} sign-ins; the stored tokens were not used");
    Ok("refused, signed in once, answered twice".to_owned())
}

/// The arguments of the call. The URL is always printed; the variable for opening a browser is required without a
/// terminal.
fn words<'c>(setup: &SignedInScene<'_>, command: &'c mut Command, era: &str) -> &'c mut Command {
    command
        .arg(setup.scene.tools.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
        .env("MCP_AUTO_OPEN_ENABLED", "true")
        .env("MCP_INSPECTOR_SECRET_STORE", "file")
        .args(["--cli", "--format", "json", "--transport", "http", "--server-url", &setup.server.mcp_url()])
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
