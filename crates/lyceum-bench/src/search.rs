//! `cargo xtask bench search`: quality and speed of search, compared with other programs.
//!
//! Runs the program as a user does: `lyceum eval` on test sets, `lyceum serve` on documentation with queries over REST.
//! Expensive artefacts are cached below `target/bench/search`. A failed measurement is reported and fails the run at
//! the end; a peer that can't be installed is only reported.

mod embedding;
mod fresh;
mod load;
mod peers;
mod program;
mod quality;
mod questions;
mod served;
mod tables;
mod workspace;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use super::page::Section;
use super::{machine, release, wrk};
use lyceum_harness::repo::Repo;
use program::Program;
use questions::Questions;
use tables::Results;
use workspace::Workspace;

/// The test sets.
const SETS: [&str; 2] = ["cosqa-dev", "cranfield"];

/// Options of the benchmark.
#[derive(Args)]
pub(crate) struct Options {
    /// Measures this program instead of building one with --release.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// Folder of the test sets and bundles [default: ../shared/data, from the root of the project]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Measures only this part; can be repeated.
    #[arg(long, value_name = "PART", conflicts_with = "write")]
    only: Vec<Part>,
    /// Number of documents to serve; the default is about 20,000 chunks.
    #[arg(long, default_value_t = 2740, value_parser = clap::value_parser!(u32).range(1..))]
    documents: u32,
    /// Seconds of load by concurrent clients.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Writes the tables into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// `lyceum eval` on the test sets.
    Quality,
    /// Queries to a server, by one client and by many.
    Served,
    /// From an empty index until 2,000 documents are found.
    Fresh,
    /// Embedding alone, compared with Python.
    Embedding,
    /// Other programs on the same test sets.
    Peers,
}

/// Runs the benchmark and prints the tables; writes them with `--write`.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    let data = options.data.clone().unwrap_or_else(|| repo.path("../shared/data"));
    ensure!(
        SETS.iter().all(|set| data.join(set).is_dir()) && data.join("mdn.bundle").is_file(),
        "{} lacks {}, {} or mdn.bundle; pass their folder with --data",
        data.display(),
        SETS[0],
        SETS[1]
    );
    wrk::must_be_installed()?;
    let workspace = Workspace::new(repo, data)?;
    let programs = release::programs(repo, options.program.as_deref(), &[])?;
    let program = Program::new(programs.get("lyceum")?.to_owned(), &workspace)?;
    let mut results = Results::default();
    let is_wanted = |part: Part| options.only.is_empty() || options.only.contains(&part);
    println!("pulling the model");
    program.pull().context("`lyceum model pull` failed")?;
    if is_wanted(Part::Quality) {
        let measured = quality::measure(&program, &workspace);
        results.record("quality", measured, |results, measured| results.quality = measured);
    }
    if is_wanted(Part::Embedding) {
        let measured = embedding::measure(&program, &workspace);
        results.record("embedding", measured, |results, measured| results.embedding = Some(measured));
    }
    if is_wanted(Part::Peers) {
        (results.peers, results.missing) = peers::measure(&workspace);
    }
    if is_wanted(Part::Fresh) {
        let measured = fresh::measure(&program, &workspace);
        results.record("2,000 documents", measured, |results, measured| results.fresh = Some(measured));
    }
    if is_wanted(Part::Served) {
        let measured = Questions::read(&workspace).and_then(|questions| {
            served::measure(&program, &workspace, &questions, options.documents, options.seconds)
        });
        results.record("served", measured, |results, measured| results.served = Some(measured));
    }
    let load = format!("1 client, then wrk with 1 thread and {} connections", load::CLIENTS);
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    let report = results.report();
    report.with_footer(results.problems, facts).publish(repo, Section::Search, options.write)
}
