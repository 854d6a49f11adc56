//! `cargo xtask bench sync`: syncing real repositories, and reading them over REST.
//!
//! Runs the program as a user does: `lyceum sync` on a local repository, then `lyceum serve`. A failed measurement is
//! reported and fails the run at the end.

mod dataset;
mod lyceum;
mod origin;
mod rest;
mod row;
mod served;
mod sync_report;
mod sync_times;
mod tables;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::page::Section;
use super::release::{self, Example};
use super::{machine, wrk};
use dataset::{DATASETS, Dataset, SERVED};
use lyceum::Lyceum;
use lyceum_harness::programs::Programs;
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;
use origin::Origin;
use sync_times::SyncTimes;
use tables::Results;

/// Syncs without changes per round.
const UNCHANGED_SYNCS: usize = 5;

/// Options of the benchmark.
#[derive(Args)]
pub(crate) struct Options {
    /// Rounds, each with an empty data folder; the median is reported.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measures this program instead of building one with --release. Expects the example bare_json in the folder
    /// `examples` next to it, as cargo builds it.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// Folder of the bundles [default: ../shared/data, from the root of the project]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Measures only this repository; mdn is the one that is also served.
    #[arg(long, value_name = "NAME", conflicts_with = "write", value_parser = dataset::names())]
    only: Option<String>,
    /// Writes the tables into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// The reference server for REST.
const BARE_JSON: Example = Example { package: "lyceum", name: "bare_json" };

/// A run of the benchmark.
struct Bench {
    programs: Programs,
    /// Folder of the bundles.
    data: PathBuf,
    rounds: u32,
    /// Temporary folders, deleted at the end: ext4 creates files slowly for minutes after many were deleted.
    scratch_folders: Vec<Scratch>,
    results: Results,
}

/// Runs the benchmark and prints the tables; writes them with `--write`.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    wrk::must_be_installed()?;
    let mut bench = Bench {
        programs: release::programs(repo, options.program.as_deref(), &[BARE_JSON])?,
        data: options.data.clone().unwrap_or_else(|| repo.path("../shared/data")),
        rounds: options.rounds,
        scratch_folders: Vec::new(),
        results: Results::default(),
    };
    let is_wanted = |dataset: &&Dataset| options.only.as_ref().is_none_or(|only| only == dataset.name);
    for dataset in DATASETS.iter().filter(is_wanted) {
        if let Err(error) = bench.measure(dataset) {
            let problem = format!("{}: {error:#}", dataset.name);
            println!("{problem}");
            bench.results.problems.push(problem);
        }
    }
    let load = format!("{} rounds; wrk with 1 thread and 64 connections for REST", options.rounds);
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    let report = bench.results.report();
    report.with_footer(bench.results.problems, facts).publish(repo, Section::Sync, options.write)
}

impl Bench {
    /// Syncs one repository in each round; serves the largest at the end.
    fn measure(&mut self, dataset: &'static Dataset) -> Result<()> {
        let bundle = dataset.bundle_in(&self.data)?;
        println!("{}: creating the repository", dataset.name);
        let scratch = Scratch::new()?;
        let mut origin = Origin::of(&bundle, &scratch, dataset.max_documents)?;
        let lyceum = Lyceum::new(self.programs.get("lyceum")?, &origin.bare, dataset, &scratch)?;
        let mut times = SyncTimes::of(dataset);
        let mut data = PathBuf::new();
        for round in 1..=self.rounds {
            data = scratch.folder(&format!("data-{round}"))?;
            self::round(&lyceum, &mut origin, &data, &mut times).with_context(|| format!("round {round}"))?;
        }
        self.results.syncs.push(times);
        if dataset.name == SERVED {
            self.results.served = Some(served::measure(&lyceum, &data, self.rounds)?);
            let bare_json = self.programs.get(BARE_JSON.name)?;
            let rest = rest::measure(&lyceum, &data, bare_json, &scratch, self.rounds);
            self.results.rest = Some(rest.context("REST")?);
        }
        self.scratch_folders.push(scratch);
        Ok(())
    }
}

/// A cold sync, syncs without changes, and one after a commit that changes one file in a hundred.
fn round(lyceum: &Lyceum<'_>, origin: &mut Origin, folder: &Path, times: &mut SyncTimes) -> Result<()> {
    let cold = lyceum.sync(folder)?;
    ensure!(cold.report.commit == origin.head()?, "{} was synced, not the head", cold.report.commit);
    let report = &cold.report;
    ensure!(report.added == report.files.published, "{} added, {:?}", report.added, report.files);
    println!("{}: cold sync took {:.0} ms, {:.0} by its own report", times.name(), cold.wall, report.took_ms);
    times.cold.push(cold.wall);
    times.cold_took.push(report.took_ms);
    times.peak_kib = times.peak_kib.max(cold.peak_kib);
    (times.files, times.in_git) = (report.files, origin.documents()?.len());

    for _ in 0..UNCHANGED_SYNCS {
        let same = lyceum.sync(folder)?;
        ensure!(
            same.report.touched() == 0,
            "{} documents changed in a sync without changes",
            same.report.touched()
        );
        times.same.push(same.wall);
        times.same_took.push(same.report.took_ms);
    }

    times.edited = origin.edit()?;
    let edited = lyceum.sync(folder)?;
    ensure!(edited.report.commit == origin.head()?, "{} was synced, not the head", edited.report.commit);
    ensure!(edited.report.touched() <= times.edited, "{} documents changed", edited.report.touched());
    println!("{}: sync of {} edited files took {:.0} ms", times.name(), times.edited, edited.wall);
    times.changed_documents = edited.report.changed;
    times.changed.push(edited.wall);
    times.changed_took.push(edited.report.took_ms);
    Ok(())
}
