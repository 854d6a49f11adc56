//! Starts programs of ours that are too large to be a chore: the benchmarks and the peers.

use anyhow::{Context, Result, bail};
use clap::Args;
use lyceum_harness::process::command_line;
use lyceum_harness::repo::Repo;

/// What is handed on as it is.
#[derive(Args)]
pub(crate) struct PassedArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl PassedArguments {
    /// Makes them of a command line.
    pub(crate) fn of(words: &[&str]) -> Self {
        Self { words: words.iter().map(|&word| word.to_owned()).collect() }
    }
}

/// Builds and runs the program of a crate, its output going straight to the terminal.
pub(crate) fn run(repo: &Repo, package: &str, words: &PassedArguments) -> Result<()> {
    let mut command = repo.command("cargo");
    command.args(["run", "--quiet", "--package", package, "--"]).args(&words.words);
    let status = command.status().context("could not start cargo")?;
    if !status.success() {
        bail!("`{}` ended with {status}", command_line(&command));
    }
    Ok(())
}
