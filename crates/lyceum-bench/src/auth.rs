//! `cargo xtask bench auth`: latency of sign-in and of token validation.
//!
//! Token validation is timed in a separate process, the example `token_check` of `lyceum-auth`. Everything else runs
//! over loopback against `lyceum serve`, on the database that `token_check` filled.

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
pub(crate) use server::free_address;
use sign_in::SignInMethod;
use tables::Results;

/// The program that times token validation.
const TOKEN_CHECK: Example = Example { package: "lyceum-auth", name: "token_check" };

/// Options of the benchmark.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds per server and round of calls.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=10))]
    seconds: u64,
    /// Rounds of calls; the median is reported.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=15))]
    rounds: u32,
    /// Number of live tokens.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "write")]
    tokens: u32,
    /// Measures this program instead of building one with --release. Expects the example token_check in the folder
    /// `examples` next to it, as cargo builds it.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// Writes the tables into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// Runs the benchmark and prints the tables; writes them with `--write`.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    wrk::must_be_installed()?;
    let programs = release::programs(repo, options.program.as_deref(), &[TOKEN_CHECK])?;
    let (lyceum, scratch, chain) = (programs.get("lyceum")?, Scratch::new()?, Chain::start()?);
    let data = scratch.folder("oauth")?;
    println!("validating {} tokens", options.tokens);
    let checked = token_check::run(programs.get(TOKEN_CHECK.name)?, &data, options.tokens, &scratch)
        .context("could not measure token validation")?;

    let key = server::new_key(lyceum, &scratch)?;
    let gated = server::start(lyceum, &scratch, Mode::Oauth { key: &key, chain: chain.addr })?;
    let open = server::start(lyceum, &scratch, Mode::Open)?;
    println!("signing in");
    let measure = |method| sign_in::measure(&gated, method);
    let by_key =
        gated.explain(measure(SignInMethod::Key(&key))).context("could not measure sign-in with a key")?;
    let by_wallet = gated.explain(measure(SignInMethod::Wallet(&chain)));
    let by_wallet = by_wallet.context("could not measure sign-in with a wallet")?;
    gated.truncate_log()?;

    let token = gated.explain(sign_in::token(&gated, &key))?;
    let time = Duration::from_secs(options.seconds);
    let loads = load::measure(&open, &gated, &token, &scratch, options.rounds, time)?;

    let load = format!(
        "wrk, 1 thread, 64 connections, median of {} × {} s, interleaved; data in the temporary folder",
        options.rounds, options.seconds
    );
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    let results = Results { checked, by_key, by_wallet, loads };
    results.report().with_footer(Vec::new(), facts).publish(repo, Section::Auth, options.write)
}
