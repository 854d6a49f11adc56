//! `cargo xtask test`: all checks, fastest first. It runs to the end whatever fails, and then lists every step with
//! its time and result, and what was skipped.

mod skips;

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use lyceum_harness::packages::{self, BUBBLEWRAP, POSTGRES};
use lyceum_harness::process::command_line;
use lyceum_harness::programs;
use lyceum_harness::repo::Repo;
use lyceum_harness::skip;

use crate::runner::{self, PassedArguments};
use crate::{deny, tidy, wasm};
pub(crate) use skips::Skip;

/// What to run; by default everything.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only what takes about a minute: no kill, fault-injection, sandbox and embedding tests, no dependency
    /// checks, no flood, no peers
    #[arg(long)]
    quick: bool,
    /// Check and test only this crate; can be repeated
    #[arg(short, long, value_name = "CRATE")]
    package: Vec<String>,
    /// Allow this to be skipped if it can't run here: part of its name or of the reason; can be repeated
    #[arg(long, value_name = "WORDS")]
    allow_skip: Vec<String>,
}

/// One step of the run.
struct Step {
    name: &'static str,
    /// The command that runs this step alone.
    by_hand: String,
    run: Run,
}

/// Runs a step; returns what was skipped.
type Run = fn(&Repo, &Step) -> Result<Vec<Skip>>;

impl Step {
    fn new(name: &'static str, by_hand: impl Into<String>, run: Run) -> Self {
        Self { name, by_hand: by_hand.into(), run }
    }
}

impl Options {
    /// The steps, in order.
    fn steps(&self) -> Vec<Step> {
        let (formatted, checked) = if self.package.is_empty() {
            ("--all".to_owned(), "--workspace".to_owned())
        } else {
            let packages: Vec<String> = self.package.iter().map(|name| format!("-p {name}")).collect();
            (packages.join(" "), packages.join(" "))
        };
        let profile = if self.quick { " --profile quick" } else { "" };
        let mut steps = vec![
            Step::new("fmt", format!("cargo fmt {formatted} --check"), command),
            Step::new("clippy", format!("cargo clippy {checked} --all-targets -- -D warnings"), command),
            Step::new("nextest", format!("cargo nextest run {checked} --no-fail-fast{profile}"), nextest),
        ];
        if self.package.is_empty() {
            steps.insert(2, Step::new("tidy", "cargo xtask tidy", |repo, _| done(tidy::run(repo))));
        }
        if self.is_everything() {
            steps.insert(3, Step::new("deny", "cargo xtask deny", |repo, _| deny::run(repo)));
            steps.insert(4, Step::new("wasm", "cargo xtask wasm", |repo, _| wasm::run(repo)));
            let by_hand = "cargo xtask bench flood --seconds 10 --program target/debug/lyceum";
            steps.push(Step::new("flood", by_hand, |repo, _| done(flood(repo))));
            steps.push(Step::new("peers", "cargo xtask peers", |repo, _| {
                done(runner::run(repo, "lyceum-peers", &PassedArguments::of(&[])))
            }));
        }
        steps
    }

    fn is_everything(&self) -> bool {
        self.package.is_empty() && !self.quick
    }
}

/// Runs the steps.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    let steps = options.steps();
    let mut ended = Vec::new();
    for step in &steps {
        println!("── {}: {}", step.name, step.by_hand);
        let started = Instant::now();
        let outcome = (step.run)(repo, step);
        let took = started.elapsed();
        match &outcome {
            Ok(_) => println!("── {}: passed in {}", step.name, seconds(took)),
            Err(error) => println!("── {}: FAILED after {}: {error:#}", step.name, seconds(took)),
        }
        ended.push(FinishedStep { step, took, outcome });
    }
    summarise(&ended);
    if !options.is_everything() {
        println!("── these were not all checks; before you push, run: cargo xtask test");
    }
    let skips: Vec<Skip> =
        ended.iter().filter_map(|step| step.outcome.as_ref().ok()).flatten().cloned().collect();
    let skipped = skips::list(&skips, &options.allow_skip);
    match (ended.iter().filter(|step| step.outcome.is_err()).count(), skipped) {
        (0, 0) => Ok(()),
        (0, skipped) => bail!(
            "{skipped} checks were skipped (see above); install what is missing, or allow it: --allow-skip 'WORDS'"
        ),
        (failed, _) => bail!("{failed} of {} steps failed", ended.len()),
    }
}

/// A finished step.
struct FinishedStep<'a> {
    step: &'a Step,
    took: Duration,
    outcome: Result<Vec<Skip>>,
}

/// Lists all steps with their times, and for each failed one why it failed and how to run it alone.
fn summarise(ended: &[FinishedStep<'_>]) {
    println!("── summary:");
    for FinishedStep { step, took, outcome } in ended {
        let word = if outcome.is_ok() { "passed" } else { "FAILED" };
        println!("   {:<10} {:>9}  {word}", step.name, seconds(*took));
    }
    println!("   {:<10} {:>9}", "total", seconds(ended.iter().map(|step| step.took).sum()));
    for FinishedStep { step, outcome, .. } in ended {
        if let Err(error) = outcome {
            println!("── {} failed: {error:#}\n   run it by hand: {}", step.name, step.by_hand);
        }
    }
}

/// For a step that skips nothing.
fn done(outcome: Result<()>) -> Result<Vec<Skip>> {
    outcome.map(|()| Vec::new())
}

/// Runs the command of the step, with its output on the terminal.
fn command(repo: &Repo, step: &Step) -> Result<Vec<Skip>> {
    done(by_hand(repo, step).and_then(|mut command| must_succeed(&mut command)))
}

fn by_hand(repo: &Repo, step: &Step) -> Result<Command> {
    let mut words = step.by_hand.split_whitespace();
    let mut command = repo.command(words.next().context("a step without a command")?);
    command.args(words);
    Ok(command)
}

fn must_succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start `{}`", command_line(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", command_line(command));
    }
    Ok(())
}

/// Runs the flood benchmark for ten seconds with a debug build: fails if a member gets an error, an audit event is
/// missing, or memory is not bounded.
fn flood(repo: &Repo) -> Result<()> {
    let programs = programs::build(repo, &["-p", "lyceum", "--bin", "lyceum"])?;
    let program = programs.get("lyceum")?.to_str().context("the path of the target folder is not UTF-8")?;
    runner::run(
        repo,
        "lyceum-bench",
        &PassedArguments::of(&["flood", "--seconds", "10", "--program", program]),
    )
}

fn nextest(repo: &Repo, step: &Step) -> Result<Vec<Skip>> {
    let installed =
        repo.command("cargo").args(["nextest", "--version"]).output().is_ok_and(|o| o.status.success());
    if !installed {
        bail!("cargo-nextest is missing; install it: cargo install --locked cargo-nextest");
    }
    packages::ensure(&BUBBLEWRAP);
    packages::ensure(&POSTGRES);
    let file = skips::file(repo)?;
    must_succeed(by_hand(repo, step)?.env(skip::FILE, &file))?;
    skips::read(&file)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
