//! The suite's scenarios of the skills extension, against the real program with a realistic repository.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::super::sample::Sample;
use super::super::scene::Scene;
use super::{checks, suite};

/// The scenarios of the extension.
const SCENARIOS: [&str; 3] =
    ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"];

/// Checks that the suite skips, by version: the earlier one has no caching.
const EXPECTED_SKIPS: &[(&str, &str)] = &[
    ("2025-11-25", "sep-2640-skills-list-cache-attributes"),
    ("2025-11-25", "sep-2640-skills-get-cache-attributes"),
];

/// A check in `checks.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: Status,
    #[serde(default)]
    error_message: String,
}

/// The result of a check. An unknown one fails to parse.
#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// The result of all checks of a scenario.
#[derive(Debug, PartialEq)]
struct Verdict {
    passed: usize,
    warnings: Vec<String>,
    faults: Vec<String>,
}

/// Runs all scenarios of the extension for a protocol version.
pub(in super::super) fn skills_meet(scene: &Scene<'_>, revision: &str) -> Result<String> {
    let results = scene.repo.path("tests/peers/results").join(format!("skills-{revision}"));
    // Results of an earlier run would be mistaken for those of this one.
    let _ = fs::remove_dir_all(&results);

    let server = scene.serve_skills(&Sample::make(scene)?.as_repository()?)?;
    let (mut passed, mut faults) = (0, Vec::new());
    for scenario in SCENARIOS {
        // `--force`: the suite rejects extension scenarios for every version.
        let words = ["--scenario", scenario, "--spec-version", revision, "--force"];
        let finished = suite(scene, &server, &results, &words)?;
        let texts = checks(&results, scenario);
        let [text] = texts.as_slice() else {
            let (count, stderr) = (texts.len(), finished.stderr);
            return server.explain(Err(anyhow::anyhow!("{scenario} wrote {count} results: {stderr}")));
        };
        let verdict = judge(revision, text).with_context(|| format!("the results of {scenario}"))?;
        for warning in &verdict.warnings {
            println!("     warning for {revision}: {scenario} / {warning}");
        }
        passed += verdict.passed;
        let ended_well = finished.status.success() || !verdict.faults.is_empty();
        faults.extend(verdict.faults.iter().map(|fault| format!("{scenario} / {fault}")));
        faults.extend((!ended_well).then(|| format!("{scenario}: the suite ended with {}", finished.status)));
    }
    if !faults.is_empty() {
        bail!("{}\nall results: {}", faults.join("\n"), results.display());
    }
    Ok(format!("{passed} checks passed in {} scenarios", SCENARIOS.len()))
}

/// Evaluates a `checks.json`.
fn judge(revision: &str, json: &str) -> Result<Verdict> {
    let checks: Vec<Check> = serde_json::from_str(json).context("unknown format of the checks")?;
    let of = |status| checks.iter().filter(move |check| check.status == status);
    let line = |check: &Check| format!("{}: {}", check.id, check.error_message);
    let is_unexpected = |check: &&Check| !EXPECTED_SKIPS.contains(&(revision, check.id.as_str()));
    let skipped = of(Status::Skipped).filter(is_unexpected);
    let verdict = Verdict {
        passed: of(Status::Success).count(),
        warnings: of(Status::Warning).map(line).collect(),
        faults: of(Status::Failure)
            .map(line)
            .chain(skipped.map(|check| format!("{} (skipped)", line(check))))
            .collect(),
    };
    ensure!(verdict.passed > 0, "nothing was checked: {json}");
    Ok(verdict)
}

#[cfg(test)]
mod tests;
