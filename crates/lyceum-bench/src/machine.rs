//! Conditions of a measurement: date, hardware and versions.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use lyceum_harness::install::Tools;
use lyceum_harness::repo::Repo;

/// A name and its value.
pub(super) type Fact = (&'static str, String);

/// Date, machine, load, and the version of lyceum or the given program.
pub(super) fn facts(repo: &Repo, load: String, given: Option<&Path>) -> Result<Vec<Fact>> {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let commit = first_output_line(repo, "git", &["rev-parse", "--short", "HEAD"])
        .unwrap_or_else(|| "none yet".into());
    let built = || format!("{} at commit {commit}, release build", env!("CARGO_PKG_VERSION"));
    Ok(vec![
        ("date", first_output_line(repo, "date", &["-u", "+%F"]).context("could not run `date`")?),
        ("machine", format!("{}, {cores} cores shared by server and load", processor())),
        ("kernel", fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()),
        ("load", load),
        ("lyceum", given.map_or_else(built, |program| program.display().to_string())),
        ("compiler", first_output_line(repo, "rustc", &["--version"]).context("could not run `rustc`")?),
    ])
}

/// Versions of the official SDKs.
pub(super) fn sdks(repo: &Repo, tools: &Tools) -> Result<Vec<Fact>> {
    let node = first_output_line(repo, &tools.node().to_string_lossy(), &["--version"])
        .context("could not run Node")?;
    let [server, adapter] = ["server", "node"].map(|name| package(tools, name));
    Ok(vec![
        ("TypeScript SDK", format!("server {}, node {} on Node {node}", server?, adapter?)),
        ("Python SDK", format!("{} on uvicorn, 1 worker", python_sdk(repo)?)),
    ])
}

/// The first line of a program's output, if it succeeds.
fn first_output_line(repo: &Repo, program: &str, args: &[&str]) -> Option<String> {
    let output = repo.command(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
    model.map_or("unknown processor", |(_, name)| name).to_owned()
}

fn package(tools: &Tools, name: &str) -> Result<String> {
    let path = tools.package(&format!("@modelcontextprotocol/{name}/package.json"));
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let version =
        serde_json::from_str::<Value>(&text)?.get("version").and_then(Value::as_str).map(str::to_owned);
    version.with_context(|| format!("no version in {}", path.display()))
}

fn python_sdk(repo: &Repo) -> Result<String> {
    let text = fs::read_to_string(repo.path("tests/peers/requirements.txt"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("mcp=="));
    line.map(|version| format!("mcp {version}")).context("tests/peers/requirements.txt does not pin mcp")
}
