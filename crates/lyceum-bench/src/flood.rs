//! `cargo xtask bench flood`: denial-of-service attacks by anonymous clients while members work.
//!
//! Runs two servers in turn, one per sign-in mode that anonymous clients can attack. Ten members work without and then
//! with two hundred attacking connections, each with its own (forwarded) address. Errors of members, missing rows in
//! the audit log and excessive memory are failures; the latency ratio is a goal.

mod attack;
mod github;
mod members;
mod stage;
mod tables;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::page::Section;
use super::{machine, release};
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;
use stage::{Mode, Stage};
use tables::FloodResults;

/// Maximum memory growth under attack, in MiB.
const MAX_GROWTH_MIB: u64 = 256;

/// Number of attacking connections.
const ATTACKER_COUNT: usize = 200;

/// Options of the benchmark.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds of the flood per server.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=120))]
    seconds: u64,
    /// Measures this program instead of building one with --release.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// Writes the table into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// Runs the benchmark and prints the tables; writes them with `--write`.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    let programs = release::programs(repo, options.program.as_deref(), &[])?;
    let (lyceum, scratch) = (programs.get("lyceum")?, Scratch::new()?);
    let time = Duration::from_secs(options.seconds);
    let mut floods = Vec::new();
    for mode in [Mode::Oauth, Mode::GithubPat] {
        println!("flooding a server with mode = {:?} for {} s", mode.name(), options.seconds);
        let stage = Stage::start(lyceum, &scratch, mode)?;
        floods.push(flood(stage, time).with_context(|| format!("mode = {:?}", mode.name()))?);
    }
    let load = format!(
        "{ATTACKER_COUNT} attacking connections for {} s, {} members",
        options.seconds,
        members::COUNT
    );
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    tables::report(&floods).with_footer(Vec::new(), facts).publish(repo, Section::Flood, options.write)?;
    for FloodResults { mode, calm, work, written, recorded, before, peak, .. } in &floods {
        let errors = [&calm.errors[..], &work.errors[..]].concat();
        ensure!(errors.is_empty(), "{mode:?}: members got {} errors: {:?}", errors.len(), errors.first());
        let grown = peak.saturating_sub(*before) / 1024;
        ensure!(grown < MAX_GROWTH_MIB, "{mode:?}: memory grew by {grown} MiB");
        ensure!(recorded >= written, "{mode:?}: the audit log has {recorded} of {written} writes");
    }
    Ok(())
}

fn flood(stage: Stage, time: Duration) -> Result<FloodResults> {
    // Warm-up: caches and lazily created state.
    let warm_up = members::work(&stage, Duration::from_secs(2))?;
    let calm = members::work(&stage, (time / 4).max(Duration::from_secs(1)))?;
    let before = stage.server.resident_kib()?;
    let attackers = attack::start(&stage, ATTACKER_COUNT);
    let work = members::work(&stage, time);
    let attempts = attackers.stop();
    let work = work?;
    let peak =
        super::memory::peak_kib(stage.server.id()).context("memory is read from /proc: run on Linux")?;
    let written = warm_up.writes + calm.writes + work.writes;
    let mode = stage.mode.name();
    let recorded = stage.stop_and_count("wrote")?;
    Ok(FloodResults { mode, calm, work, attempts, before, peak, written, recorded })
}
