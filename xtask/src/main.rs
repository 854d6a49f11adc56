//! `cargo xtask`: the chores of a contributor.
//!
//! One subcommand, one module. Nothing here is shipped, and no crate of the product depends on it; what measures and what meets
//! the programs of others are programs of their own, which are only started from here.
#![expect(
    clippy::print_stdout,
    reason = "xtask answers a person at a terminal; it never speaks MCP on stdout"
)]

mod deny;
mod runner;
mod test;
mod tidy;
mod wasm;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use lyceum_harness::exit_code;
use lyceum_harness::repo::Repo;

use crate::test::Skip;

/// Checks, tests and measures lyceum.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Runs every check and test, then meets the real clients.
    Test(test::Options),
    /// Checks how the code is laid out, and prints the size of its files.
    Tidy,
    /// Checks what we depend on: known holes, licences, origins, duplicates.
    Deny,
    /// Checks that the crates which must also run at the edge compile for WebAssembly.
    Wasm,
    /// Meets the real clients and the conformance suite.
    #[command(disable_help_flag = true)]
    Peers(runner::PassedArguments),
    /// Measures speed and memory.
    #[command(disable_help_flag = true)]
    Bench(runner::PassedArguments),
}

fn main() -> ExitCode {
    exit_code(run(&Repo::here(), &Command::parse()))
}

fn run(repo: &Repo, command: &Command) -> Result<()> {
    match command {
        Command::Test(options) => test::run(repo, options),
        Command::Tidy => tidy::run(repo),
        Command::Deny => deny::run(repo).map(|skips| skips.iter().for_each(Skip::print)),
        Command::Wasm => wasm::run(repo).map(|skips| skips.iter().for_each(Skip::print)),
        Command::Peers(words) => runner::run(repo, "lyceum-peers", words),
        Command::Bench(words) => runner::run(repo, "lyceum-bench", words),
    }
}
