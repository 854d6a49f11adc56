//! Starts the benchmarks and the peers, which are programs of their own.

use anyhow::{Context, Result, bail};
use clap::Args;
use lyceum_harness::process::command_line;
use lyceum_harness::repo::Repo;

/// Arguments that are passed on unchanged.
#[derive(Args)]
pub(crate) struct PassedArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl PassedArguments {
    /// Creates them from a list.
    pub(crate) fn of(words: &[&str]) -> Self {
        Self { words: words.iter().map(|&word| word.to_owned()).collect() }
    }
}

/// Builds and runs the program of a crate, with its output on the terminal.
pub(crate) fn run(repo: &Repo, package: &str, words: &PassedArguments) -> Result<()> {
    let mut command = repo.command("cargo");
    command.args(["run", "--quiet", "--package", package, "--"]).args(&words.words);
    let status = command.status().context("could not start cargo")?;
    if !status.success() {
        bail!("`{}` ended with {status}", command_line(&command));
    }
    Ok(())
}
