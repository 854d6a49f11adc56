//! `cargo xtask bench`: the benchmarks of `docs/benchmarks.md`.
//!
//! One module per benchmark. Programs are measured as black boxes, as users run them; nothing here is shipped.
#![expect(clippy::disallowed_methods, reason = "starts the measured programs; development only")]
#![expect(clippy::print_stdout, reason = "a terminal program; stdout is not an MCP transport")]

mod auth;
mod compare;
mod connection;
mod figures;
mod flood;
mod http;
mod machine;
mod memory;
mod modern;
mod page;
mod release;
mod report;
mod search;
mod skills;
mod sync;
mod wrk;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use lyceum_harness::exit_code;
use lyceum_harness::repo::Repo;

/// Benchmarks speed and memory.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
enum Subject {
    /// Calls per second over HTTP, compared with a bare echo server and the official SDKs.
    Http(http::Options),
    /// Indexing, routing and serving thousands of skills.
    Skills(skills::Options),
    /// Quality and speed of search, compared with other programs.
    Search(search::Options),
    /// Latency of sign-in and of token validation.
    Auth(auth::Options),
    /// Denial-of-service attacks by anonymous clients while members work.
    Flood(flood::Options),
    /// Syncing real repositories, and reading them over REST.
    Sync(sync::Options),
    /// Two builds, loaded in turn: calls, search, skills.
    Compare(compare::Options),
}

fn main() -> ExitCode {
    exit_code(run(&Repo::here(), &Subject::parse()))
}

fn run(repo: &Repo, subject: &Subject) -> Result<()> {
    match subject {
        Subject::Http(options) => http::run(repo, options),
        Subject::Skills(options) => skills::run(repo, options),
        Subject::Search(options) => search::run(repo, options),
        Subject::Auth(options) => auth::run(repo, options),
        Subject::Flood(options) => flood::run(repo, options),
        Subject::Sync(options) => sync::run(repo, options),
        Subject::Compare(options) => compare::run(options),
    }
}
