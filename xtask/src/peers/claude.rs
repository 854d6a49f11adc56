//! Claude Code: adds our server to its configuration and says whether it can connect.

use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::git_server::GitServer;
use super::sample::Sample;
use super::scene::{Scene, Target};

const LIMIT: Duration = Duration::from_secs(60);

/// The name under which we are added.
const NAME: &str = "lyceum";

/// `claude mcp add --transport http`, then `claude mcp list`.
pub(super) fn over_http(scene: &Scene<'_>) -> Result<String> {
    let server = scene.serve()?;
    claude(scene, &["mcp", "add", "--transport", "http", NAME, &server.mcp_url()])?;
    server.explain(connected(&claude(scene, &["mcp", "list"])?))
}

/// `claude mcp add` with a command that serves a folder of skills, then `claude mcp list`.
pub(super) fn over_stdio(scene: &Scene<'_>) -> Result<String> {
    let skills = Sample::make(scene)?.skills_dir()?;
    starts(scene, &scene.stdio(vec![("SKILLS_DIR", skills)])?)
}

/// The same with the skills of a Git server.
pub(super) fn over_stdio_from_a_repository(scene: &Scene<'_>) -> Result<String> {
    let sample = Sample::make(scene)?;
    let git_server = GitServer::start(scene, &sample)?;
    let remark = starts(scene, &scene.stdio(git_server.variables())?)?;
    git_server.was_asked()?;
    Ok(remark)
}

fn starts(scene: &Scene<'_>, stdio: &Target) -> Result<String> {
    let mut words = ["mcp", "add", NAME].map(str::to_owned).to_vec();
    for (name, value) in &stdio.variables {
        words.extend(["-e".to_owned(), format!("{name}={value}")]);
    }
    words.push("--".to_owned());
    words.extend(stdio.words.iter().cloned());
    claude(scene, &words.iter().map(String::as_str).collect::<Vec<_>>())?;
    connected(&claude(scene, &["mcp", "list"])?)
}

fn claude(scene: &Scene<'_>, words: &[&str]) -> Result<String> {
    // The binary itself: npm's link to it is made by an install script, and we run none.
    let program = scene.tools.package(&format!("@anthropic-ai/claude-code-{}/claude", platform()));
    ensure!(
        program.is_file(),
        "{} is missing: npm left out this optional package; run by hand: cd tests/peers && npm ci --ignore-scripts",
        program.display()
    );
    let mut command = scene.command(program)?;
    command.args(words).env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    scene.output(&mut command, LIMIT)
}

/// This machine, in the words of npm packages.
fn platform() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("{os}-{arch}")
}

/// `mcp list` succeeds whatever it finds; the verdict is in our line.
fn connected(list: &str) -> Result<String> {
    let ours = list.lines().find(|line| line.starts_with(&format!("{NAME}:")));
    match ours {
        Some(line) if line.trim_end().ends_with("✔ Connected") => Ok("connected".to_owned()),
        _ => bail!("`claude mcp list` does not say Connected:\n{list}"),
    }
}

#[cfg(test)]
mod tests;
