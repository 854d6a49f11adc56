//! `cargo xtask bench`: measurements for `docs/benchmarks.md`.
//!
//! One subject, one module. Programs are measured from outside, as a person runs them; nothing here is shipped.
#![expect(clippy::disallowed_methods, reason = "it starts what it measures, for development only")]
#![expect(clippy::print_stdout, reason = "it answers a person at a terminal; it never speaks MCP on stdout")]

mod auth;
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

/// Measures speed and memory.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
enum Subject {
    /// Calls per second over HTTP, next to a bare echo and to the official SDKs.
    Http(http::Options),
    /// Reading, finding and serving thousands of skills.
    Skills(skills::Options),
    /// How well and how fast search finds, next to what else there is.
    Search(search::Options),
    /// Signing in, and what a token costs at each request.
    Auth(auth::Options),
    /// Strangers do their worst while members work.
    Flood(flood::Options),
    /// Bringing real repositories of documents in, and reading them over REST.
    Sync(sync::Options),
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
    }
}
