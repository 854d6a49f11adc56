//! Parses the output of the conformance suite. Pure and strict: a line that does not parse counts as not run.

use std::fmt;

use serde::Deserialize;

/// One line of the suite's summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) passed: u32,
    pub(super) failed: u32,
}

/// The suite's summary.
pub(super) struct Summary {
    scored: Vec<Scenario>,
    pub(super) not_scored: Vec<Scenario>,
}

/// A check in `checks.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    #[serde(default)]
    error_message: String,
}

impl Summary {
    /// Parses the standard output of the suite.
    pub(super) fn parse(output: &str) -> Self {
        let (summary, rest) = output.split_once("\nNot scored for ").unwrap_or((output, ""));
        let (_, lines) = summary.split_once("=== SUMMARY ===").unwrap_or_default();
        let excluded: Vec<&str> =
            rest.lines().filter_map(marked).filter_map(|line| line.split(' ').next()).collect();
        let all = lines.lines().filter_map(scenario);
        let (not_scored, scored) = all.partition(|scenario| excluded.contains(&scenario.name.as_str()));
        Self { scored, not_scored }
    }

    /// The reasons for a failure: a required scenario that failed, or did not run.
    pub(super) fn faults(&self, required: &[String]) -> Vec<String> {
        let fault = |name: &String| match self.scored.iter().find(|scenario| scenario.name == *name) {
            None => Some(format!("{name}: required, but it was not run")),
            Some(scenario) if scenario.failed > 0 || scenario.passed == 0 => Some(scenario.to_string()),
            Some(_) => None,
        };
        required.iter().filter_map(fault).collect()
    }

    /// Scored scenarios with a failed check.
    pub(super) fn failed_scored(&self) -> impl Iterator<Item = &Scenario> {
        self.scored.iter().filter(|scenario| scenario.failed > 0)
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, passed, failed } = self;
        let verdict = match (passed, failed) {
            (0, 0) => "skipped by the suite",
            (_, 0) => "passed",
            _ => "FAILED",
        };
        write!(out, "{name}: {verdict} ({passed} passed, {failed} failed)")
    }
}

/// The names below `server:` in a requirements file. It is YAML of one fixed form: `  - name`.
pub(super) fn required(yaml: &str) -> Vec<String> {
    let below = yaml.lines().skip_while(|line| *line != "server:").skip(1);
    let until_next_key = below.take_while(|line| line.is_empty() || line.starts_with([' ', '#']));
    until_next_key
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(|name| name.trim().to_owned())
        .collect()
}

/// The failed checks in the text of a `checks.json`, one line each.
pub(super) fn failed_checks(scenario: &str, json: &str) -> String {
    let checks: Vec<Check> = serde_json::from_str(json).unwrap_or_default();
    let failed = checks.iter().filter(|check| check.status == "FAILURE");
    failed.map(|check| format!("  {scenario} / {}: {}\n", check.id, check.error_message)).collect()
}

/// Parses `✓ tools-list: 3 passed, 0 failed`.
fn scenario(line: &str) -> Option<Scenario> {
    let (name, counts) = marked(line)?.split_once(": ")?;
    let (passed, failed) = counts.split_once(", ")?;
    let passed = passed.strip_suffix(" passed")?.parse().ok()?;
    let failed = failed.split(' ').next()?.parse().ok()?;
    Some(Scenario { name: name.to_owned(), passed, failed })
}

/// The text after the mark of a line.
fn marked(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix(['✓', '✗'])?.strip_prefix(' ')
}

#[cfg(test)]
mod tests;
