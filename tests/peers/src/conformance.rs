//! The official conformance suite, against our fixtures behind the real router.

mod skills;
mod summary;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::scene::Scene;
use lyceum_harness::process::ProcessOutput;
use lyceum_harness::server::Server;
pub(super) use skills::skills_meet;
use summary::{Scenario, Summary};

const TIMEOUT: Duration = Duration::from_secs(300);

/// Per scenario; the default of 30 s is tight on a busy machine.
const SCENARIO_TIMEOUT_MS: &str = "60000";

const PACKAGE: &str = "@modelcontextprotocol/conformance";

/// Runs all required scenarios of a protocol version. Scenarios that are not scored are listed.
pub(super) fn meets(scene: &Scene<'_>, revision: &str) -> Result<String> {
    let required = required(scene, revision)?;
    let results = scene.repo.path("tests/peers/results").join(revision);
    // Results of an earlier run would be mistaken for those of this one.
    let _ = fs::remove_dir_all(&results);

    let server = scene.serve_fixtures()?;
    let finished = suite(scene, &server, &results, &["--requirements", revision])?;

    let summary = Summary::parse(&finished.stdout);
    for scenario in &summary.not_scored {
        println!("     not scored for {revision}: {scenario}");
    }
    let faults = summary.faults(&required);
    if !faults.is_empty() {
        let reasons =
            summary.failed_scored().map(|scenario| failures(&results, scenario)).collect::<String>();
        bail!("{}\n{reasons}all results: {}", faults.join("\n"), results.display());
    }
    let status = finished.status;
    ensure!(status.success(), "the suite ended with {status}:\n{}{}", finished.stdout, finished.stderr);
    Ok(format!("{} required scenarios passed, {} not scored", required.len(), summary.not_scored.len()))
}

/// Runs the suite against a server; the caller judges the output.
fn suite(scene: &Scene<'_>, server: &Server, results: &Path, words: &[&str]) -> Result<ProcessOutput> {
    let mut command = scene.command(scene.tools.node())?;
    command.arg(scene.tools.package(&format!("{PACKAGE}/dist/index.js")));
    command.args(["server", "--url", &server.mcp_url()]).args(words);
    command.args(["--timeout", SCENARIO_TIMEOUT_MS, "--output-dir"]).arg(results);
    scene.finish(&mut command, TIMEOUT)
}

/// The required scenarios of a version, from the list of the suite, so that one that did not run is noticed.
fn required(scene: &Scene<'_>, revision: &str) -> Result<Vec<String>> {
    let path = scene.tools.package(&format!("{PACKAGE}/requirements/{revision}.yaml"));
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let names = summary::required(&text);
    ensure!(!names.is_empty(), "no `server:` list in {}: did its format change?", path.display());
    Ok(names)
}

/// The failed checks of a scenario.
fn failures(results: &Path, scenario: &Scenario) -> String {
    let texts = checks(results, &scenario.name).into_iter();
    texts.map(|text| summary::failed_checks(&scenario.name, &text)).collect()
}

/// The `checks.json` files of a scenario in the results folder.
fn checks(results: &Path, scenario: &str) -> Vec<String> {
    let folders = fs::read_dir(results).into_iter().flatten().flatten();
    let start = format!("server-{scenario}-2");
    let ours = folders.filter(|folder| folder.file_name().to_string_lossy().starts_with(&start));
    ours.filter_map(|folder| fs::read_to_string(folder.path().join("checks.json")).ok()).collect()
}
