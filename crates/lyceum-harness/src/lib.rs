//! Development only: starts programs and servers, for `xtask`, the peers and the benchmarks; and random numbers for
//! the tests of every crate.
//!
//! It depends on no other crate of ours: it builds in seconds, and every crate can use it in its tests.
#![expect(clippy::disallowed_methods, reason = "starts programs, for development only")]
#![expect(clippy::print_stdout, reason = "its output is for a terminal; it never speaks MCP on stdout")]

pub mod exchange;
pub mod install;
pub mod packages;
pub mod postgres;
pub mod process;
pub mod programs;
pub mod random;
pub mod repo;
pub mod scratch;
pub mod server;
pub mod skip;

use std::process::ExitCode;

/// The exit code of a program. Prints an error with each cause on its own line.
pub fn exit_code(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    // Not anyhow's own format: a backtrace of our own program would push the error off the screen.
    eprintln!("── {error}");
    error.chain().skip(1).for_each(|cause| eprintln!("because {cause}"));
    ExitCode::FAILURE
}
