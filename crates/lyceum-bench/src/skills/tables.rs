//! Tables of the `skills` benchmark.

use super::rival::{self, ListTimes};
use super::{LARGE_CORPUS, Results, SMALL_CORPUS, TASKS};
use crate::figures::{median, mib, quantile};
use crate::report::{Report, Row, Table};

/// Debounce of the file watch, in milliseconds: `DEBOUNCE` in `lyceum-source`.
const WATCH_DEBOUNCE_MS: f64 = 50.0;

/// Goals for medians, in milliseconds.
const MAX_BUILD_MS: f64 = 1500.0;
const MAX_REBUILD_MS: f64 = 100.0;
const MAX_GET_SKILL_MS: f64 = 1.0;
const MAX_DISCOVER_MS: f64 = 150.0;

/// The report.
pub(super) fn report(results: &Results) -> Report {
    let mut report = Report::default();
    report.add(Table::new(&["milliseconds", "median", "p99 or worst"], rows(results)));
    let Results { resident_kib, resident_later_kib, outcomes, rival, .. } = results;
    report.say(format!(
        "Memory of `lyceum serve` with {LARGE_CORPUS} skills: {}, and {} after all calls and edits.\n\
         Of the {TASKS} tasks of a round, {} match one skill, {} several and {} none.",
        mib(*resident_kib),
        mib(*resident_later_kib),
        outcomes.matched,
        outcomes.ambiguous,
        outcomes.unmatched
    ));
    if let Some(both) = rival {
        let skills = SMALL_CORPUS - SMALL_CORPUS / 2;
        report.say(format!("The same {skills} `SKILL.md` folders over stdio, started in turn:"));
        report.add(comparison(&both.lyceum, &both.rival));
    }
    report
}

fn rows(results: &Results) -> Vec<Row> {
    let Results { cold, cold_without_skills, watched, refreshed, stdio, http, in_server, .. } = results;
    let without = median(cold_without_skills.clone());
    let build: Vec<f64> = cold.iter().map(|time| time - without).collect();
    let rebuild: Vec<f64> = watched.iter().map(|time| time - WATCH_DEBOUNCE_MS).collect();
    let quiet = "of which the rebuild: without the 50 ms of debounce";
    let discover = format!("start over stdio until `server/discover` is answered, {SMALL_CORPUS} skills");
    vec![
        of_times(format!("start until {LARGE_CORPUS} skills are served"), cold),
        below("of which reading and indexing them", &build, MAX_BUILD_MS),
        of_times("one edit until it is served, by file watch", watched),
        below(quiet, &rebuild, MAX_REBUILD_MS),
        of_times("one edit, then `refresh_skills`, which scans every file", refreshed),
        below("`get_skill` in the server, by its own log", &in_server.get_skill, MAX_GET_SKILL_MS),
        of_times("`get_skill` over HTTP, keep-alive connection", &http.get_skill),
        of_times("`get_skill` over stdio", &stdio.get_skill),
        of_times("`server_info` in the server, for comparison", &in_server.server_info),
        of_times("`server_info` over HTTP", &http.server_info),
        of_times("`server_info` over stdio", &stdio.server_info),
        below(discover, &results.discover, MAX_DISCOVER_MS),
        of_times("the same until the first `get_skill` is answered", &results.first_get_skill),
    ]
}

/// Median and p99; with fewer than 100 values the maximum.
fn of_times(name: impl Into<String>, times: &[f64]) -> Row {
    let at = |percent| precise(quantile(times.to_vec(), percent));
    Row::of_figures(name, vec![at(50), at(99)])
}

/// The same, with a goal for the median.
fn below(name: impl Into<String>, times: &[f64], goal: f64) -> Row {
    of_times(name, times).below(median(times.to_vec()), goal)
}

/// Compares FastMCP with lyceum on the same folders.
fn comparison(lyceum: &[ListTimes], rival: &[ListTimes]) -> Table {
    let row = |name: &str, figure: fn(&ListTimes) -> f64| {
        let [ours, theirs] = [lyceum, rival].map(|all| median(all.iter().map(figure).collect()));
        Row::of_figures(name, vec![precise(ours), precise(theirs), format!("{:.1}", theirs / ours)])
    };
    let rows = vec![
        row("until `server/discover` is answered", |one| one.ready),
        row("until all pages of `resources/list` are", |one| one.listed),
    ];
    Table::new(&["milliseconds from the start", "lyceum", rival::NAME, "×"], rows)
}

/// Three significant digits.
fn precise(milliseconds: f64) -> String {
    match milliseconds {
        small if small < 10.0 => format!("{small:.2}"),
        middle if middle < 100.0 => format!("{middle:.1}"),
        large => format!("{large:.0}"),
    }
}

#[cfg(test)]
mod tests;
