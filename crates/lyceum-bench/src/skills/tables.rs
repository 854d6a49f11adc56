//! The tables of skills.

use super::rival::{self, ListTimes};
use super::{MANY, Results, SOME, TASKS};
use crate::figures::{median, mib, quantile};
use crate::report::{Report, Row, Table};

/// How long a watch waits for more edits, in milliseconds: `DEBOUNCE` in the watch of `lyceum-source`.
const WATCH_DEBOUNCE_MS: f64 = 50.0;

/// What the medians should stay under, in milliseconds.
const MAX_BUILD_MS: f64 = 1500.0;
const MAX_REBUILD_MS: f64 = 100.0;
const MAX_GET_SKILL_MS: f64 = 1.0;
const MAX_DISCOVER_MS: f64 = 150.0;

/// All that was found.
pub(super) fn report(found: &Results) -> Report {
    let mut report = Report::default();
    report.add(Table::new(&["milliseconds", "median", "p99 or worst"], rows(found)));
    let Results { resident_kib, resident_later_kib, outcomes, rival, .. } = found;
    report.say(format!(
        "Memory of `lyceum serve` with {MANY} skills: {}, and {} after all calls and edits.\n\
         The {TASKS} tasks of a round found one skill {} times, several {} times and none {} times.",
        mib(*resident_kib),
        mib(*resident_later_kib),
        outcomes.found,
        outcomes.ambiguous,
        outcomes.nothing
    ));
    if let Some(both) = rival {
        let skills = SOME - SOME / 2;
        report.say(format!("The same {skills} `SKILL.md` folders over stdio, started in turn:"));
        report.add(comparison(&both.lyceum, &both.rival));
    }
    report
}

fn rows(found: &Results) -> Vec<Row> {
    let Results { cold, cold_without_skills, watched, refreshed, stdio, http, in_server, .. } = found;
    let without = median(cold_without_skills.clone());
    let build: Vec<f64> = cold.iter().map(|time| time - without).collect();
    let rebuild: Vec<f64> = watched.iter().map(|time| time - WATCH_DEBOUNCE_MS).collect();
    let quiet = "of which the rebuild: all but the 50 ms of quiet that end a burst of edits";
    let discover = format!("start over stdio until `server/discover` is answered, {SOME} skills");
    vec![
        of_times(format!("start until {MANY} skills are served"), cold),
        below("of which reading and indexing them", &build, MAX_BUILD_MS),
        of_times("one edit until it is served, by watching", watched),
        below(quiet, &rebuild, MAX_REBUILD_MS),
        of_times("one edit, then `refresh_skills`, which looks at every file again", refreshed),
        below("`get_skill` in the server, by its own log", &in_server.get_skill, MAX_GET_SKILL_MS),
        of_times("`get_skill` over HTTP, kept connection", &http.get_skill),
        of_times("`get_skill` over stdio", &stdio.get_skill),
        of_times("`server_info` in the server, for comparison", &in_server.server_info),
        of_times("`server_info` over HTTP", &http.server_info),
        of_times("`server_info` over stdio", &stdio.server_info),
        below(discover, &found.discover, MAX_DISCOVER_MS),
        of_times("the same until the first `get_skill` is answered", &found.first_get_skill),
    ]
}

/// The median, and what one in a hundred exceeds; the worst where there are fewer.
fn of_times(name: impl Into<String>, times: &[f64]) -> Row {
    let at = |percent| precise(quantile(times.to_vec(), percent));
    Row::of_figures(name, vec![at(50), at(99)])
}

/// The same, where the median should stay under a goal.
fn below(name: impl Into<String>, times: &[f64], goal: f64) -> Row {
    of_times(name, times).below(median(times.to_vec()), goal)
}

/// The other server on the same folders, by its ratio to ours.
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

/// Three digits that count.
fn precise(milliseconds: f64) -> String {
    match milliseconds {
        small if small < 10.0 => format!("{small:.2}"),
        middle if middle < 100.0 => format!("{middle:.1}"),
        large => format!("{large:.0}"),
    }
}

#[cfg(test)]
mod tests;
