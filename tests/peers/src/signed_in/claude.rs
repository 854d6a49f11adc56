//! Claude Code signs in, calls the tool and signs out, all by itself; only its model is replaced by `model.mjs`,
//! because the real one needs an account.

use std::process::Command;

use anyhow::{Result, ensure};

use super::super::claude::program;
use super::super::scene::Scene;
use super::scene::{AnonymousAccess, SignedInScene};
use super::{SECRET, TOOL, arguments};

/// The name of our server, and the preregistered client.
const NAME: &str = "lyceum";
const CLIENT: &str = "claude-code";

/// `claude mcp add`, `login`, a conversation with one call, `logout`.
pub(in super::super) fn claude_code(scene: &Scene<'_>) -> Result<String> {
    let setup = SignedInScene::open(scene, AnonymousAccess::Refused)?;
    let met = meets(&setup);
    setup.server.explain(met)
}

fn meets(setup: &SignedInScene<'_>) -> Result<String> {
    let claude = |words: &[&str]| {
        let mut command = setup.scene.command(program(setup.scene)?)?;
        setup.run(quiet(&mut command).args(words)).map(|(output, _)| output)
    };
    let url = setup.server.mcp_url();
    claude(&["mcp", "add", "--transport", "http", "--client-id", CLIENT, NAME, &url])?;
    says(&claude(&["mcp", "list"])?, "! Needs authentication")?;

    // Its login needs a terminal.
    let mut login = setup.node("person.mjs")?;
    login.arg(setup.scene.tools.python()).arg(setup.script("terminal.py")).arg(program(setup.scene)?);
    setup.run(quiet(&mut login).args(["mcp", "login", NAME]))?;
    says(&claude(&["mcp", "list"])?, "✔ Connected")?;
    let who = setup.who_signed_in()?;
    ensure!(who == CLIENT, "{who} signed in, and not Claude Code");

    let tool = format!("mcp__{NAME}__{TOOL}");
    let mut model = setup.node("model.mjs")?;
    model.args([&tool, &arguments().to_string()]).arg(program(setup.scene)?);
    let question = ["--print", "Where is the key?", "--allowedTools", &tool];
    let (answer, _) = setup.run(quiet(&mut model).args(question))?;
    ensure!(answer.contains(SECRET), "the model was told {answer}");

    claude(&["mcp", "logout", NAME])?;
    says(&claude(&["mcp", "list"])?, "! Needs authentication")?;
    ensure!(setup.count("revoked")? == 1, "it signed out, and its grant was not ended");
    Ok("refused, signed in by its own login, answered, signed out; its model was played".to_owned())
}

/// Without nonessential traffic, and with all tools in the prompt instead of tool search.
fn quiet(command: &mut Command) -> &mut Command {
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("ENABLE_TOOL_SEARCH", "false")
}

/// Fails unless our line of `claude mcp list` ends with that text.
fn says(list: &str, end: &str) -> Result<()> {
    let ours = list.lines().find(|line| line.starts_with(&format!("{NAME}:"))).unwrap_or_default();
    ensure!(ours.trim_end().ends_with(end), "`claude mcp list` does not say {end:?}:\n{list}");
    Ok(())
}
