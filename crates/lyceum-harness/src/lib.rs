//! Development only: starts programs and servers from outside, for `xtask`, the peers and the benchmarks; random numbers for
//! the tests of every crate.
//!
//! It knows none of our crates: a chore is built in seconds, and every crate can use it in its tests.
#![expect(clippy::disallowed_methods, reason = "it starts programs, for development only")]
#![expect(clippy::print_stdout, reason = "it answers a person at a terminal; it never speaks MCP on stdout")]

pub mod exchange;
pub mod install;
pub mod packages;
pub mod process;
pub mod programs;
pub mod random;
pub mod repo;
pub mod scratch;
pub mod server;
pub mod skip;

use std::process::ExitCode;

/// Ends a program of ours: what failed, and each cause on a line of its own.
pub fn exit_code(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    // Not anyhow's own form: a backtrace through our own program would push what failed off the screen.
    eprintln!("── {error}");
    error.chain().skip(1).for_each(|cause| eprintln!("because {cause}"));
    ExitCode::FAILURE
}
