//! Claude Code signs in, calls the tool and signs out. It does all that itself; only its model is played by
//! `model.mjs`, because the real one needs an account.

use std::process::Command;

use anyhow::{Result, ensure};

use super::super::claude::program;
use super::super::scene::Scene;
use super::scene::{SignedInScene, Strangers};
use super::{SECRET, TOOL, arguments};

/// The name under which we are added, and the client that is declared for it.
const NAME: &str = "lyceum";
const CLIENT: &str = "claude-code";

/// `claude mcp add`, `login`, a conversation with one call, `logout`.
pub(in super::super) fn claude_code(scene: &Scene<'_>) -> Result<String> {
    let place = SignedInScene::open(scene, Strangers::StayOut)?;
    let met = meets(&place);
    place.server.explain(met)
}

fn meets(place: &SignedInScene<'_>) -> Result<String> {
    let claude = |words: &[&str]| {
        let mut command = place.scene.command(program(place.scene)?)?;
        place.run(quiet(&mut command).args(words)).map(|(output, _)| output)
    };
    let url = place.server.mcp_url();
    claude(&["mcp", "add", "--transport", "http", "--client-id", CLIENT, NAME, &url])?;
    says(&claude(&["mcp", "list"])?, "! Needs authentication")?;

    // It signs nobody in without a terminal.
    let mut login = place.node("person.mjs")?;
    login.arg(place.scene.tools.python()).arg(place.script("terminal.py")).arg(program(place.scene)?);
    place.run(quiet(&mut login).args(["mcp", "login", NAME]))?;
    says(&claude(&["mcp", "list"])?, "✔ Connected")?;
    let who = place.who_signed_in()?;
    ensure!(who == CLIENT, "{who} signed in, and not Claude Code");

    let tool = format!("mcp__{NAME}__{TOOL}");
    let mut model = place.node("model.mjs")?;
    model.args([&tool, &arguments().to_string()]).arg(program(place.scene)?);
    let question = ["--print", "Where is the key?", "--allowedTools", &tool];
    let (answer, _) = place.run(quiet(&mut model).args(question))?;
    ensure!(answer.contains(SECRET), "the model was told {answer}");

    claude(&["mcp", "logout", NAME])?;
    says(&claude(&["mcp", "list"])?, "! Needs authentication")?;
    ensure!(place.count("revoked")? == 1, "it signed out, and its grant was not ended");
    Ok("refused, signed in by its own login, answered, signed out; its model was played".to_owned())
}

/// Asks nothing of the Internet, and shows its model all tools at once instead of having it look for them.
fn quiet(command: &mut Command) -> &mut Command {
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("ENABLE_TOOL_SEARCH", "false")
}

/// Fails unless our line of `claude mcp list` ends so.
fn says(list: &str, end: &str) -> Result<()> {
    let ours = list.lines().find(|line| line.starts_with(&format!("{NAME}:"))).unwrap_or_default();
    ensure!(ours.trim_end().ends_with(end), "`claude mcp list` does not say {end:?}:\n{list}");
    Ok(())
}
