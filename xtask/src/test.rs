//! `cargo xtask test`: every check, in order of what fails fastest. It runs to the end, whatever fails, and then lists every
//! step with its time and how it ended.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use lyceum_harness::packages::{self, BUBBLEWRAP};
use lyceum_harness::process::command_line;
use lyceum_harness::programs;
use lyceum_harness::repo::Repo;

use crate::runner::{self, Words};
use crate::{deny, tidy};

/// What to run.
#[derive(Args)]
pub(crate) struct Options {
    /// Leaves out the peers: the real clients and the conformance suite.
    #[arg(long)]
    quick: bool,
}

/// One step of the run.
struct Step {
    name: &'static str,
    /// What a person types to run this step alone.
    by_hand: &'static str,
    run: fn(&Repo, &Step) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", by_hand: "cargo fmt --all --check", run: command },
    Step { name: "clippy", by_hand: "cargo clippy --workspace --all-targets -- -D warnings", run: command },
    Step { name: "tidy", by_hand: "cargo xtask tidy", run: |repo, _| tidy::run(repo) },
    Step { name: "deny", by_hand: "cargo xtask deny", run: |repo, _| deny::run(repo) },
    Step { name: "nextest", by_hand: "cargo nextest run --workspace --no-fail-fast", run: nextest },
    Step { name: "doc tests", by_hand: "cargo test --workspace --doc --no-fail-fast", run: command },
];

/// Ten seconds of a flood: whether members notice anything but the time it takes.
const FLOOD: Step = Step {
    name: "flood",
    by_hand: "cargo xtask bench flood --seconds 10 --program target/debug/lyceum",
    run: |repo, _| flood(repo),
};

const PEERS: Step = Step {
    name: "peers",
    by_hand: "cargo xtask peers",
    run: |repo, _| runner::run(repo, "lyceum-peers", &Words::of(&[])),
};

/// Runs the steps.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    let peers: &[&Step] = if options.quick { &[] } else { &[&FLOOD, &PEERS] };
    let mut ended = Vec::new();
    for step in STEPS.iter().chain(peers.iter().copied()) {
        println!("── {}: {}", step.name, step.by_hand);
        let started = Instant::now();
        let outcome = (step.run)(repo, step);
        let took = started.elapsed();
        match &outcome {
            Ok(()) => println!("── {}: passed in {}", step.name, seconds(took)),
            Err(error) => println!("── {}: FAILED after {}: {error:#}", step.name, seconds(took)),
        }
        ended.push(Ended { step, took, outcome });
    }
    summarise(&ended);
    if options.quick {
        println!(
            "── the flood and the peers (real clients, conformance suite) were LEFT OUT by --quick; run them: {}",
            PEERS.by_hand
        );
    }
    match ended.iter().filter(|step| step.outcome.is_err()).count() {
        0 => Ok(()),
        failed => bail!("{failed} of {} steps failed", ended.len()),
    }
}

/// A step that came to its end.
struct Ended<'a> {
    step: &'a Step,
    took: Duration,
    outcome: Result<()>,
}

/// Lists every step with its time, and for each that failed why and how to run it alone.
fn summarise(ended: &[Ended<'_>]) {
    println!("── summary:");
    for Ended { step, took, outcome } in ended {
        let word = if outcome.is_ok() { "passed" } else { "FAILED" };
        println!("   {:<10} {:>9}  {word}", step.name, seconds(*took));
    }
    println!("   {:<10} {:>9}", "together", seconds(ended.iter().map(|step| step.took).sum()));
    for Ended { step, outcome, .. } in ended {
        if let Err(error) = outcome {
            println!("── {} failed: {error:#}\n   run it by hand: {}", step.name, step.by_hand);
        }
    }
}

/// Runs the step's own command line, its output going straight to the terminal.
fn command(repo: &Repo, step: &Step) -> Result<()> {
    let mut words = step.by_hand.split_whitespace();
    let program = words.next().context("a step without a command")?;
    let mut command = repo.command(program);
    let status = command.args(words).status().with_context(|| format!("could not start {program}"))?;
    if !status.success() {
        bail!("`{}` ended with {status}", command_line(&command));
    }
    Ok(())
}

/// With a program as tests have it: fails where a member meets an error, a row of the audit log is missing, or memory is not
/// bounded.
fn flood(repo: &Repo) -> Result<()> {
    let programs = programs::build(repo, &["-p", "lyceum", "--bin", "lyceum"])?;
    let program = programs.get("lyceum")?.to_str().context("the target folder has a name that is no text")?;
    runner::run(repo, "lyceum-bench", &Words::of(&["flood", "--seconds", "10", "--program", program]))
}

fn nextest(repo: &Repo, step: &Step) -> Result<()> {
    let installed =
        repo.command("cargo").args(["nextest", "--version"]).output().is_ok_and(|o| o.status.success());
    if !installed {
        bail!("cargo-nextest is missing; install it: cargo install --locked cargo-nextest");
    }
    packages::ensure(&BUBBLEWRAP);
    command(repo, step)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
