//! `cargo xtask`: development tasks.
//!
//! One subcommand, one module. Nothing here is shipped, and no crate of the product depends on it. Benchmarks and
//! peers are programs of their own, which are only started from here.
#![expect(clippy::print_stdout, reason = "its output is for a terminal; it never speaks MCP on stdout")]

mod deny;
mod package;
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

/// Checks, tests and benchmarks lyceum.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Run all checks and tests, then the peers
    Test(test::Options),
    /// Check the layout of the code, and print the sizes of files
    Tidy,
    /// Check dependencies: advisories, licenses, sources, duplicates
    Deny,
    /// Check that the crates that must run at the edge compile for WebAssembly
    Wasm,
    /// Build a package: npm, wheel or deb
    Package(package::Options),
    /// Run real clients and the conformance suite against lyceum
    #[command(disable_help_flag = true)]
    Peers(runner::PassedArguments),
    /// Run benchmarks of speed and memory
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
        Command::Package(options) => package::run(repo, options),
        Command::Peers(words) => runner::run(repo, "lyceum-peers", words),
        Command::Bench(words) => runner::run(repo, "lyceum-bench", words),
    }
}
