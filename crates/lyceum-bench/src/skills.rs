//! `cargo xtask bench skills`: reading, finding and serving thousands of skills.
//!
//! The files are in the page cache, as on a developer's machine: what is measured is our work, not the disk's.

mod answers;
mod calls;
mod corpus;
mod edit;
mod lyceum;
mod pipe;
mod rival;
mod start;
mod tables;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use super::connection::Connection;
use super::page::Section;
use super::{machine, release};
use calls::{Outcomes, Times};
use corpus::Corpus;
use edit::Editing;
use lyceum::Lyceum;
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;
use pipe::Pipe;
use rival::{Rival, SideBySide};

/// How many skills there are, and how many of them for the start over stdio.
const MANY: usize = 5000;
const SOME: usize = 500;

/// How many tasks are put in each round, over each door.
const TASKS: usize = 2000;

/// How often a server is started on [`SOME`] skills, and a skill is edited in each of two ways, in each round.
const STARTS: usize = 5;
const EDITS: usize = 5;

/// Time until work that goes on after the first answer has settled.
const SETTLE_TIME: Duration = Duration::from_secs(1);

const ACCEPT: &str = "application/json, text/event-stream";

/// How long to measure.
#[derive(Args)]
pub(crate) struct Options {
    /// Rounds; all of them together count.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measures this program instead of building one with --release.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// Leaves out FastMCP, which needs Python and a package registry.
    #[arg(long)]
    without_rival: bool,
    /// Writes the table into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// All that was found; times in milliseconds.
#[derive(Default)]
struct Results {
    /// From the start of a process until all skills are served, and the same with no skill at all.
    cold: Vec<f64>,
    cold_without_skills: Vec<f64>,
    /// From an edit until it is served.
    watched: Vec<f64>,
    refreshed: Vec<f64>,
    stdio: Times,
    http: Times,
    in_server: Times,
    outcomes: Outcomes,
    /// Resident memory after the start, and after all calls and edits.
    resident_kib: u64,
    resident_later_kib: u64,
    /// From the start of a process over stdio, with [`SOME`] skills.
    discover: Vec<f64>,
    first_get_skill: Vec<f64>,
    rival: Option<SideBySide>,
}

/// Measures, prints the table and writes it if asked to.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    let rival = if options.without_rival { None } else { Some(Rival::install(repo)?) };
    let programs = release::programs(repo, options.program.as_deref(), &[])?;
    let lyceum = Lyceum { program: programs.get("lyceum")? };
    let scratch = Scratch::new()?;
    println!("writing {MANY} skills");
    let many = Corpus::write(scratch.folder("many")?, MANY)?;
    let some = Corpus::write(scratch.folder("some")?, SOME)?;

    let mut found = Results::default();
    cold(&lyceum, &many, options, &mut found)?;
    first_answers(&lyceum, &some, options, &mut found)?;
    calls_and_edits(&lyceum, &many, options, &mut found)?;
    found.rival = rival.map(|rival| rival.measure(&lyceum, &some)).transpose()?;

    let load = format!(
        "{} rounds, one call at a time; {} files in the page cache",
        options.rounds,
        corpus::files_below(&many.root)?
    );
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    tables::report(&found).ended(Vec::new(), facts).publish(repo, Section::Skills, options.write)
}

/// Starts a server on all skills, and one on none.
fn cold(lyceum: &Lyceum<'_>, many: &Corpus, options: &Options, found: &mut Results) -> Result<()> {
    let empty = Scratch::new()?;
    let none = empty.folder("none")?;
    for round in 1..=options.rounds {
        let (all, without) = (start::until_served(lyceum, &many.root)?, start::until_served(lyceum, &none)?);
        println!(
            "round {round}: {} skills are served after {all:.0} ms, none after {without:.0} ms",
            many.skills
        );
        found.cold.push(all);
        found.cold_without_skills.push(without);
    }
    Ok(())
}

/// Starts a server over stdio, again and again.
fn first_answers(lyceum: &Lyceum<'_>, some: &Corpus, options: &Options, found: &mut Results) -> Result<()> {
    for round in 1..=options.rounds {
        for _ in 0..STARTS {
            let first = start::first_answers(lyceum, some)?;
            println!(
                "round {round}: server/discover after {:.0} ms, get_skill after {:.0} ms",
                first.discover, first.get_skill
            );
            found.discover.push(first.discover);
            found.first_get_skill.push(first.get_skill);
        }
    }
    Ok(())
}

/// Puts tasks to two servers in turn, then edits a skill of one.
fn calls_and_edits(lyceum: &Lyceum<'_>, many: &Corpus, options: &Options, found: &mut Results) -> Result<()> {
    let (for_http, for_stdio) = (Scratch::new()?, Scratch::new()?);
    let logged = lyceum.serve(&many.root, &for_http)?;
    let mut connection = Connection::open(logged.server.addr)?;
    let mut command = lyceum.stdio(&many.root, &for_stdio)?;
    let mut pipe = Pipe::start(&mut command, &for_stdio.path().join("server.log"))?;
    std::thread::sleep(SETTLE_TIME);
    found.resident_kib = logged.server.resident_kib()?;

    let tasks = many.tasks(TASKS);
    for round in 1..=options.rounds {
        found.outcomes = calls::over_stdio(&mut pipe, &tasks, &mut found.stdio)?;
        let times = (&mut found.http, &mut found.in_server);
        calls::over_http(&logged, &mut connection, &tasks, times)?;
        println!("round {round}: {TASKS} tasks over stdio and over HTTP");
    }
    drop(pipe);

    let mut editing = Editing::new(connection, many);
    for round in 1..=options.rounds {
        for _ in 0..EDITS {
            let watched = logged.server.explain(editing.watched())?;
            let refreshed = logged.server.explain(editing.refreshed())?;
            println!(
                "round {round}: an edit is served after {watched:.0} ms, refresh_skills takes {refreshed:.0} ms"
            );
            found.watched.push(watched);
            found.refreshed.push(refreshed);
        }
    }
    found.resident_later_kib = logged.server.resident_kib()?;
    Ok(())
}

/// Milliseconds since then.
fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
