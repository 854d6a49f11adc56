//! `cargo xtask bench search`: how well and how fast search finds, next to what else there is.
//!
//! The program is driven as a person drives it: `lyceum eval` on test sets, `lyceum serve` on documentation, asked over
//! REST. What takes long is kept below `target/bench/search` for the next run. What can't be measured is named, and ends
//! the run with an error once the rest is done; peers that can't be installed are only named.

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

/// What to measure.
#[derive(Args)]
pub(crate) struct Options {
    /// Measures this program instead of building one with --release.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// The folder of the test sets and bundles [default: ../shared/data, from the root of the project]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Measures only this; can be given again.
    #[arg(long, value_name = "PART", conflicts_with = "write")]
    only: Vec<Part>,
    /// How many documents are served: about 20,000 passages.
    #[arg(long, default_value_t = 2740, value_parser = clap::value_parser!(u32).range(1..))]
    documents: u32,
    /// How many seconds the many clients ask.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Writes the tables into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// What can be measured alone.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// `lyceum eval` on the test sets.
    Quality,
    /// Questions to a server, by one client and by many.
    Served,
    /// From nothing until 2,000 documents are found.
    Fresh,
    /// The model alone, beside Python.
    Embedding,
    /// Other programs on the same sets.
    Peers,
}

/// Measures, prints the tables and writes them if asked to.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    let data = options.data.clone().unwrap_or_else(|| repo.path("../shared/data"));
    ensure!(
        SETS.iter().all(|set| data.join(set).is_dir()) && data.join("mdn.bundle").is_file(),
        "{} has not all of {}, {} and mdn.bundle; name their folder with --data",
        data.display(),
        SETS[0],
        SETS[1]
    );
    wrk::must_be_installed()?;
    let place = Workspace::new(repo, data)?;
    let programs = release::programs(repo, options.program.as_deref(), &[])?;
    let program = Program::new(programs.get("lyceum")?.to_owned(), &place)?;
    let mut found = Results::default();
    let is_wanted = |part: Part| options.only.is_empty() || options.only.contains(&part);
    println!("getting the model");
    program.pull().context("the model can't be had: `lyceum model pull` failed")?;
    if is_wanted(Part::Quality) {
        let measured = quality::measure(&program, &place);
        found.take("quality", measured, |found, measured| found.quality = measured);
    }
    if is_wanted(Part::Embedding) {
        let measured = embedding::measure(&program, &place);
        found.take("embedding", measured, |found, measured| found.embedding = Some(measured));
    }
    if is_wanted(Part::Peers) {
        (found.peers, found.missing) = peers::measure(&place);
    }
    if is_wanted(Part::Fresh) {
        let measured = fresh::measure(&program, &place);
        found.take("2,000 documents", measured, |found, measured| found.fresh = Some(measured));
    }
    if is_wanted(Part::Served) {
        let measured = Questions::read(&place).and_then(|questions| {
            served::measure(&program, &place, &questions, options.documents, options.seconds)
        });
        found.take("served", measured, |found, measured| found.served = Some(measured));
    }
    let load = format!("1 client, then wrk with 1 thread and {} connections", load::CLIENTS);
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    let report = found.report();
    report.ended(found.problems, facts).publish(repo, Section::Search, options.write)
}
