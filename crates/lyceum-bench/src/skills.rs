//! `cargo xtask bench skills`: indexing, routing and serving thousands of skills.
//!
//! The files are in the page cache, as on a developer's machine, so the disk is not measured.

mod answers;
mod calls;
mod corpus;
mod edit;
mod lyceum;
mod pipe;
mod quality;
mod rival;
mod start;
mod tables;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

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

/// Number of skills of the large corpus, and of the small one for starts over stdio.
const LARGE_CORPUS: usize = 5000;
const SMALL_CORPUS: usize = 500;

/// Tasks per round and transport.
const TASKS: usize = 2000;

/// Starts on the small corpus, and edits per kind, in each round.
const STARTS: usize = 5;
const EDITS: usize = 5;

/// Time for background work after start-up to finish.
const SETTLE_TIME: Duration = Duration::from_secs(1);

const ACCEPT: &str = "application/json, text/event-stream";

/// Options of the benchmark.
#[derive(Args)]
pub(crate) struct Options {
    /// Rounds; all measurements are pooled.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measures this program instead of building one with --release.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Leaves out FastMCP, which needs Python and a package registry.
    #[arg(long)]
    without_rival: bool,
    /// Folder of the bundles [default: ../shared/data, from the root of the project]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Folder of embedding models [default: target/bench/search/models]
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Measures only this part.
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// Writes the tables into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// Indexing and serving 5,000 made-up skills.
    Speed,
    /// Which skill a task finds, on real skills.
    Quality,
}

/// All results; times in milliseconds.
#[derive(Default)]
struct Results {
    /// From process start until all skills are served, and the same without skills.
    cold: Vec<f64>,
    cold_without_skills: Vec<f64>,
    /// From an edit until it is served: by file watch, and by `refresh_skills`.
    watched: Vec<f64>,
    refreshed: Vec<f64>,
    stdio: Times,
    http: Times,
    in_server: Times,
    outcomes: Outcomes,
    /// Resident memory after the start, and after all calls and edits.
    resident_kib: u64,
    resident_later_kib: u64,
    /// From process start over stdio, with the small corpus.
    discover: Vec<f64>,
    first_get_skill: Vec<f64>,
    rival: Option<SideBySide>,
}

/// Runs the benchmark and prints the tables; writes them with `--write`.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    // Shares of tasks don't depend on the build; times do.
    ensure!(
        !options.write || options.program.is_none() || options.only == Some(Part::Quality),
        "--write with --program is for --only quality: the times in docs/benchmarks.md are those of a release build"
    );
    if options.only != Some(Part::Quality) {
        speed(repo, options)?;
    }
    if options.only != Some(Part::Speed) {
        quality(repo, options)?;
    }
    Ok(())
}

/// Writes a generated corpus; returns its folder and a task that matches one skill or several.
pub(crate) fn write_corpus(root: PathBuf, skills: usize) -> Result<(PathBuf, String)> {
    let corpus = Corpus::write(root, skills)?;
    let task = corpus.tasks(1).pop().unwrap_or_default();
    Ok((corpus.root, task))
}

/// Measures which skills tasks find.
fn quality(repo: &Repo, options: &Options) -> Result<()> {
    let programs = release::programs(repo, options.program.as_deref(), &[])?;
    let lyceum = Lyceum { program: programs.get("lyceum")? };
    let data = options.data.clone().unwrap_or_else(|| repo.path("../shared/data"));
    let models = quality::models(options.models.as_deref(), repo.path("target/bench/search/models"))?;
    let report = quality::measure(&lyceum, &data, &models)?;
    let load = "one call at a time".to_owned();
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    report.with_footer(Vec::new(), facts).publish(repo, Section::SkillRouting, options.write)
}

/// Measures indexing and serving.
fn speed(repo: &Repo, options: &Options) -> Result<()> {
    let rival = if options.without_rival { None } else { Some(Rival::install(repo)?) };
    let programs = release::programs(repo, options.program.as_deref(), &[])?;
    let lyceum = Lyceum { program: programs.get("lyceum")? };
    let scratch = Scratch::new()?;
    println!("writing {LARGE_CORPUS} skills");
    let large = Corpus::write(scratch.folder("many")?, LARGE_CORPUS)?;
    let small = Corpus::write(scratch.folder("some")?, SMALL_CORPUS)?;

    let mut results = Results::default();
    cold(&lyceum, &large, options, &mut results)?;
    first_answers(&lyceum, &small, options, &mut results)?;
    calls_and_edits(&lyceum, &large, options, &mut results)?;
    results.rival = rival.map(|rival| rival.measure(&lyceum, &small)).transpose()?;

    let load = format!(
        "{} rounds, one call at a time; {} files in the page cache",
        options.rounds,
        corpus::count_files(&large.root)?
    );
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    tables::report(&results).with_footer(Vec::new(), facts).publish(repo, Section::Skills, options.write)
}

/// Measures cold starts with all skills, and with none.
fn cold(lyceum: &Lyceum<'_>, large: &Corpus, options: &Options, results: &mut Results) -> Result<()> {
    let empty = Scratch::new()?;
    let none = empty.folder("none")?;
    for round in 1..=options.rounds {
        let (all, without) = (start::until_served(lyceum, &large.root)?, start::until_served(lyceum, &none)?);
        println!(
            "round {round}: {} skills served after {all:.0} ms, none after {without:.0} ms",
            large.skills
        );
        results.cold.push(all);
        results.cold_without_skills.push(without);
    }
    Ok(())
}

/// Measures starts over stdio.
fn first_answers(
    lyceum: &Lyceum<'_>,
    small: &Corpus,
    options: &Options,
    results: &mut Results,
) -> Result<()> {
    for round in 1..=options.rounds {
        for _ in 0..STARTS {
            let first = start::first_answers(lyceum, small)?;
            println!(
                "round {round}: server/discover after {:.0} ms, get_skill after {:.0} ms",
                first.discover, first.get_skill
            );
            results.discover.push(first.discover);
            results.first_get_skill.push(first.get_skill);
        }
    }
    Ok(())
}

/// Sends tasks over stdio and HTTP, interleaved, then edits a skill.
fn calls_and_edits(
    lyceum: &Lyceum<'_>,
    large: &Corpus,
    options: &Options,
    results: &mut Results,
) -> Result<()> {
    let (for_http, for_stdio) = (Scratch::new()?, Scratch::new()?);
    let logged = lyceum.serve(&large.root, &for_http)?;
    let mut connection = Connection::open(logged.server.addr)?;
    let mut command = lyceum.stdio(&large.root, &for_stdio)?;
    let mut pipe = Pipe::start(&mut command, &for_stdio.path().join("server.log"))?;
    std::thread::sleep(SETTLE_TIME);
    results.resident_kib = logged.server.resident_kib()?;

    let tasks = large.tasks(TASKS);
    for round in 1..=options.rounds {
        results.outcomes = calls::over_stdio(&mut pipe, &tasks, &mut results.stdio)?;
        let times = (&mut results.http, &mut results.in_server);
        calls::over_http(&logged, &mut connection, &tasks, times)?;
        println!("round {round}: {TASKS} tasks over stdio and over HTTP");
    }
    drop(pipe);

    let mut editing = Editing::new(connection, large);
    for round in 1..=options.rounds {
        for _ in 0..EDITS {
            let watched = logged.server.explain(editing.watched())?;
            let refreshed = logged.server.explain(editing.refreshed())?;
            println!(
                "round {round}: edit served after {watched:.0} ms, refresh_skills takes {refreshed:.0} ms"
            );
            results.watched.push(watched);
            results.refreshed.push(refreshed);
        }
    }
    results.resident_later_kib = logged.server.resident_kib()?;
    Ok(())
}

/// Milliseconds since an instant.
fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
