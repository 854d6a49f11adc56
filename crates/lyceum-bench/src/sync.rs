//! `cargo xtask bench sync`: bringing real repositories in, and reading what they hold over REST.
//!
//! The program is driven as a person drives it: `lyceum sync` on a repository that is served by its path, then
//! `lyceum serve`. What can't be measured is named, and ends the run with an error once the rest is done.

mod lyceum;
mod material;
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
use lyceum::Lyceum;
use lyceum_harness::programs::Programs;
use lyceum_harness::repo::Repo;
use lyceum_harness::scratch::Scratch;
use material::{MATERIALS, Material, SERVED};
use origin::Origin;
use sync_times::SyncTimes;
use tables::Results;

/// How often nothing has changed, in each round.
const UNCHANGED_SYNCS: usize = 5;

/// What to measure, and for how long.
#[derive(Args)]
pub(crate) struct Options {
    /// Rounds, each with an empty data folder; the median counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measures this program instead of building one with --release. The example bare_json is expected in the folder
    /// `examples` beside it, where cargo puts it.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    program: Option<PathBuf>,
    /// The folder of the bundles [default: ../shared/data, from the root of the project]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Measures one repository alone, such as mdn, which is the one that is served.
    #[arg(long, value_name = "NAME", conflicts_with = "write", value_parser = material::names())]
    only: Option<String>,
    /// Writes the tables into docs/benchmarks.md.
    #[arg(long)]
    write: bool,
}

/// What it is measured against.
const BARE_JSON: Example = Example { package: "lyceum", name: "bare_json" };

/// A run.
struct Bench {
    programs: Programs,
    /// The folder of the bundles.
    data: PathBuf,
    rounds: u32,
    /// Everything that was made, until the end: for minutes after files were deleted, ext4 makes new ones slowly.
    kept: Vec<Scratch>,
    found: Results,
}

/// Measures, prints the tables and writes them if asked to.
pub(crate) fn run(repo: &Repo, options: &Options) -> Result<()> {
    wrk::must_be_installed()?;
    let mut bench = Bench {
        programs: release::programs(repo, options.program.as_deref(), &[BARE_JSON])?,
        data: options.data.clone().unwrap_or_else(|| repo.path("../shared/data")),
        rounds: options.rounds,
        kept: Vec::new(),
        found: Results::default(),
    };
    let is_wanted = |material: &&Material| options.only.as_ref().is_none_or(|only| only == material.name);
    for material in MATERIALS.iter().filter(is_wanted) {
        if let Err(error) = bench.measure(material) {
            let problem = format!("{}: {error:#}", material.name);
            println!("{problem}");
            bench.found.problems.push(problem);
        }
    }
    let load = format!("{} rounds; wrk with 1 thread and 64 connections for REST", options.rounds);
    let facts = machine::facts(repo, load, options.program.as_deref())?;
    let report = bench.found.report();
    report.ended(bench.found.problems, facts).publish(repo, Section::Sync, options.write)
}

impl Bench {
    /// Brings one repository in, round after round; the largest is served in the end.
    fn measure(&mut self, material: &'static Material) -> Result<()> {
        let bundle = material.bundle_in(&self.data)?;
        println!("{}: making the repository", material.name);
        let scratch = Scratch::new()?;
        let mut origin = Origin::of(&bundle, &scratch, material.most)?;
        let lyceum = Lyceum::new(self.programs.get("lyceum")?, &origin.bare, material, &scratch)?;
        let mut brought = SyncTimes::of(material);
        let mut data = PathBuf::new();
        for round in 1..=self.rounds {
            data = scratch.folder(&format!("data-{round}"))?;
            self::round(&lyceum, &mut origin, &data, &mut brought)
                .with_context(|| format!("round {round}"))?;
        }
        self.found.brought.push(brought);
        if material.name == SERVED {
            self.found.served = Some(served::measure(&lyceum, &data, self.rounds)?);
            let bare_json = self.programs.get(BARE_JSON.name)?;
            let rest = rest::measure(&lyceum, &data, bare_json, &scratch, self.rounds);
            self.found.rest = Some(rest.context("REST")?);
        }
        self.kept.push(scratch);
        Ok(())
    }
}

/// From nothing, then with no news, then with a commit that changes one file in a hundred.
fn round(lyceum: &Lyceum<'_>, origin: &mut Origin, folder: &Path, brought: &mut SyncTimes) -> Result<()> {
    let cold = lyceum.sync(folder)?;
    ensure!(cold.report.commit == origin.head()?, "{} was brought in, not the head", cold.report.commit);
    let report = &cold.report;
    ensure!(report.added == report.files.published, "{} added, {:?}", report.added, report.files);
    println!("{}: cold after {:.0} ms, {:.0} of them its own", brought.name(), cold.wall, report.took_ms);
    brought.cold.push(cold.wall);
    brought.cold_took.push(report.took_ms);
    brought.peak_kib = brought.peak_kib.max(cold.peak_kib);
    (brought.files, brought.in_git) = (report.files, origin.documents()?.len());

    for _ in 0..UNCHANGED_SYNCS {
        let same = lyceum.sync(folder)?;
        ensure!(same.report.touched() == 0, "{} documents changed with nothing new", same.report.touched());
        brought.same.push(same.wall);
        brought.same_took.push(same.report.took_ms);
    }

    brought.edited = origin.edit()?;
    let edited = lyceum.sync(folder)?;
    ensure!(edited.report.commit == origin.head()?, "{} was brought in, not the head", edited.report.commit);
    ensure!(edited.report.touched() <= brought.edited, "{} documents changed", edited.report.touched());
    println!("{}: {} edited files after {:.0} ms", brought.name(), brought.edited, edited.wall);
    brought.changed_documents = edited.report.changed;
    brought.changed.push(edited.wall);
    brought.changed_took.push(edited.report.took_ms);
    Ok(())
}
