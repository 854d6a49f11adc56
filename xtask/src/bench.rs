//! `cargo xtask bench`: measurements for `docs/benchmarks.md`.

mod http;

use anyhow::Result;
use clap::Subcommand;

use crate::repo::Repo;

/// What to measure.
#[derive(Subcommand)]
pub(crate) enum Subject {
    /// Calls per second over HTTP, next to a bare echo and to the official SDKs.
    Http(http::Options),
}

/// Measures.
pub(crate) fn run(repo: &Repo, subject: &Subject) -> Result<()> {
    match subject {
        Subject::Http(options) => http::run(repo, options),
    }
}
