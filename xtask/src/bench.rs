//! `cargo xtask bench`: measurements for `docs/benchmarks.md`.

mod auth;
mod connection;
mod figures;
mod flood;
mod http;
mod line;
mod machine;
mod memory;
mod modern;
mod page;
mod release;
mod search;
mod skills;
mod sync;
mod wrk;

use anyhow::Result;
use clap::Subcommand;

use crate::programs;
use crate::repo::Repo;

/// What to measure.
#[derive(Subcommand)]
pub(crate) enum Subject {
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

/// A short flood with a program as tests have it: fails where a member meets an error, a row of the audit log is missing, or memory
/// is not bounded.
pub(crate) fn flood_for_ten_seconds(repo: &Repo) -> Result<()> {
    let programs = programs::build(repo, &["-p", "lyceum", "--bin", "lyceum"])?;
    flood::run(repo, &flood::Options::short(programs.get("lyceum")?))
}

/// Measures.
pub(crate) fn run(repo: &Repo, subject: &Subject) -> Result<()> {
    match subject {
        Subject::Http(options) => http::run(repo, options),
        Subject::Skills(options) => skills::run(repo, options),
        Subject::Search(options) => search::run(repo, options),
        Subject::Auth(options) => auth::run(repo, options),
        Subject::Flood(options) => flood::run(repo, options),
        Subject::Sync(options) => sync::run(repo, options),
    }
}
