//! Claude Code: adds our server to its configuration and checks that it can connect.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::git_server::GitServer;
use super::python;
use super::sample::Sample;
use super::scene::{Scene, Target};

const TIMEOUT: Duration = Duration::from_secs(60);

/// The name of our server.
pub(super) const NAME: &str = "lyceum";

/// `claude mcp add --transport http`, then `claude mcp list`.
pub(super) fn over_http(scene: &Scene<'_>) -> Result<String> {
    let server = scene.serve()?;
    claude(scene, &["mcp", "add", "--transport", "http", NAME, &server.mcp_url()])?;
    server.explain(connected(&claude(scene, &["mcp", "list"])?))
}

/// `claude mcp add` with a command that serves a folder of skills, then `claude mcp list`.
pub(super) fn over_stdio(scene: &Scene<'_>) -> Result<String> {
    let skills = Sample::make(scene)?.skills_dir()?;
    add_and_list(scene, &scene.stdio(&[("SKILLS_DIR", &skills)])?)
}

/// The same with the skills of a Git server.
///
/// `claude mcp list` ends before the first clone is complete. So the command that Claude Code stored is run once for
/// longer.
pub(super) fn over_stdio_from_a_repository(scene: &Scene<'_>) -> Result<String> {
    let sample = Sample::make(scene)?;
    let git_server = GitServer::start(scene, &sample)?;
    add_and_list(scene, &git_server.stdio(scene)?)?;
    python::gets_a_skill(scene, &stored_command(scene)?)?;
    git_server.was_requested()?;
    let list = claude(scene, &["mcp", "list"])?;
    connected(&list).map(|remark| format!("{remark} before the first clone and after it"))
}

fn add_and_list(scene: &Scene<'_>, stdio: &Target) -> Result<String> {
    let mut words = ["mcp", "add", "--scope", "user", NAME].map(str::to_owned).to_vec();
    for (name, value) in &stdio.variables {
        words.extend(["-e".to_owned(), format!("{name}={value}")]);
    }
    words.push("--".to_owned());
    words.extend(stdio.words.iter().cloned());
    claude(scene, &words.iter().map(String::as_str).collect::<Vec<_>>())?;
    connected(&claude(scene, &["mcp", "list"])?)
}

/// The command in the configuration of Claude Code.
fn stored_command(scene: &Scene<'_>) -> Result<Target> {
    #[derive(Deserialize)]
    struct Server {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
    }
    let file = scene.folder("home")?.join(".claude.json");
    let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
    let config: Value = serde_json::from_str(&text).context(".claude.json is not JSON")?;
    let server = config.get("mcpServers").and_then(|servers| servers.get(NAME));
    let server = server.with_context(|| format!("no mcpServers.{NAME} in .claude.json"))?;
    let Server { command, args, env } =
        Server::deserialize(server).context("invalid entry in .claude.json")?;
    Ok(Target { words: [vec![command], args].concat(), variables: env })
}

pub(super) fn claude(scene: &Scene<'_>, words: &[&str]) -> Result<String> {
    let mut command = scene.command(program(scene)?)?;
    command.args(words).env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    scene.output(&mut command, TIMEOUT)
}

/// The binary itself: npm's link to it is created by an install script, and we run none.
pub(super) fn program(scene: &Scene<'_>) -> Result<PathBuf> {
    let program = scene.tools.package(&format!("@anthropic-ai/claude-code-{}/claude", platform()));
    ensure!(
        program.is_file(),
        "{} is missing: npm left out this optional package; run by hand: cd tests/peers && npm ci --ignore-scripts",
        program.display()
    );
    Ok(program)
}

/// The platform, in the form that npm packages use.
fn platform() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("{os}-{arch}")
}

/// `mcp list` always succeeds; the result is in our line.
pub(super) fn connected(list: &str) -> Result<String> {
    let ours = list.lines().find(|line| line.starts_with(&format!("{NAME}:")));
    match ours {
        Some(line) if line.trim_end().ends_with("✔ Connected") => Ok("connected".to_owned()),
        _ => bail!("`claude mcp list` does not say Connected:\n{list}"),
    }
}

#[cfg(test)]
mod tests;
