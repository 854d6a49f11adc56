//! `cargo xtask bench auth`: signing in, and what a token costs at each request.
//!
//! The check of a token is timed inside a process of its own, `token_check` of `lyceum-auth`; all else over loopback, against
//! `lyceum serve` on the database which that one filled.

mod chain;
mod load;
mod server;
mod sign_in;
mod tables;
mod token_check;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::page::Section;
use super::release::{self, Example};
use super::{machine, wrk};
use chain::Chain;
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;
use server::Mode;
use sign_in::SignInMethod;
use tables::Results;

/// What the check of a token is timed with.
const TOKEN_CHECK: Example = Example { package: "lyceum-auth", name: "token_check" };

/// What to measure, and for how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds per server and round of calls.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=10))]
    seconds: u64,
    /// Rounds of calls; the median of them counts.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=15))]
    rounds: u32,
    /// How many tokens are live.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "write")]
    tokens: u32,
    /// Measures this program instead of building one with --release. The example token_check is expected in the folder
    /// `examples` beside it, where cargo puts it.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// Writes the tables into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// Measures, prints the tables and writes them if asked to.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    wrk::must_be_installed()?;
    let programs = release::programs(repo, options.program.as_deref(), &[TOKEN_CHECK])?;
    let (lyceum, scratch, chain) = (programs.get("lyceum")?, Scratch::new()?, Chain::start()?);
    let data = scratch.folder("oauth")?;
    println!("checking {} tokens", options.tokens);
    let checked = token_check::run(programs.get(TOKEN_CHECK.name)?, &data, options.tokens, &scratch)
        .context("the check of tokens can't be measured")?;

    let key = server::new_key(lyceum, &scratch)?;
    let gated = server::start(lyceum, &scratch, Mode::Oauth { key: &key, chain: chain.addr })?;
    let open = server::start(lyceum, &scratch, Mode::Open)?;
    println!("signing in");
    let measure = |way| sign_in::measure(&gated, way);
    let by_key =
        gated.explain(measure(SignInMethod::Key(&key))).context("a sign-in with a key can't be measured")?;
    let by_wallet = gated.explain(measure(SignInMethod::Wallet(&chain)));
    let by_wallet = by_wallet.context("a sign-in with a wallet can't be measured")?;
    gated.forget_log()?;

    let token = gated.explain(sign_in::token(&gated, &key))?;
    let time = Duration::from_secs(options.seconds);
    let loads = load::measure(&open, &gated, &token, &scratch, options.rounds, time)?;

    let load = format!(
        "wrk, 1 thread, 64 connections, median of {} × {} s in turn; the data on the disk of the temporary folder",
        options.rounds, options.seconds
    );
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    let found = Results { checked, by_key, by_wallet, loads };
    found.report().ended(Vec::new(), facts).publish(repo, Section::Auth, options.write)
}
