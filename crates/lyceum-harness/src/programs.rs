//! Builds our own programs and finds the executables.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process::command_line;
use crate::repo::Repo;

/// Built programs by name. The paths come from cargo, so that `CARGO_TARGET_DIR` works.
pub struct Programs(HashMap<String, PathBuf>);

/// The part of cargo's JSON messages that we read.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Programs {
    /// Programs that are built already.
    pub fn of(programs: HashMap<String, PathBuf>) -> Self {
        Self(programs)
    }

    /// The path of a program.
    pub fn get(&self, name: &str) -> Result<&Path> {
        let path = self.0.get(name);
        path.map(PathBuf::as_path).with_context(|| format!("cargo built no program named {name}"))
    }
}

/// Runs `cargo build` with these arguments; compiler messages go to the terminal.
pub fn build(repo: &Repo, words: &[&str]) -> Result<Programs> {
    let mut command = repo.command("cargo");
    command.arg("build").args(words);
    let by_hand = command_line(&command);
    let output = command
        .args(["--quiet", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        bail!("the build failed; run it by hand: {by_hand}");
    }
    Ok(Programs(executables(&String::from_utf8_lossy(&output.stdout))))
}

fn executables(messages: &str) -> HashMap<String, PathBuf> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    parsed.filter_map(|message| Some((message.target?.name, message.executable?))).collect()
}

#[cfg(test)]
mod tests;
