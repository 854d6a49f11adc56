//! The table of `docs/benchmarks.md`.

use std::fmt;

use super::rival::{self, Listed};
use super::{Found, MANY, SOME, TASKS};
use crate::bench::figures::{median, mib, quantile};
use crate::bench::machine::Fact;

/// How long a watch waits for more edits, in milliseconds: `QUIET` in the watch of `lyceum-source`.
const QUIET: f64 = 50.0;

/// Everything that the page says.
pub(super) struct Report {
    pub(super) found: Found,
    pub(super) facts: Vec<Fact>,
}

/// A line of the table; times in milliseconds.
struct Row {
    name: String,
    median: f64,
    /// What one in a hundred exceeds; the worst where there are fewer.
    p99: f64,
    /// What the median should stay under.
    goal: Option<f64>,
}

impl Row {
    fn of(name: impl Into<String>, times: &[f64]) -> Self {
        let at = |percent| quantile(times.to_vec(), percent).unwrap_or(f64::NAN);
        Self { name: name.into(), median: at(50), p99: at(99), goal: None }
    }

    fn below(self, goal: f64) -> Self {
        Self { goal: Some(goal), ..self }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, median, p99, goal } = self;
        let goal = goal
            .map_or_else(String::new, |goal| format!("< {goal} {}", if *median < goal { "✓" } else { "✗" }));
        writeln!(out, "| {name} | {} | {} | {goal} |", precise(*median), precise(*p99))
    }
}

impl Report {
    fn rows(&self) -> Vec<Row> {
        let Found { cold, cold_without_skills, watched, refreshed, stdio, http, in_server, .. } = &self.found;
        let without = median(cold_without_skills.clone()).unwrap_or(f64::NAN);
        let build: Vec<f64> = cold.iter().map(|time| time - without).collect();
        let rebuild: Vec<f64> = watched.iter().map(|time| time - QUIET).collect();
        vec![
            Row::of(format!("start until {MANY} skills are served"), cold),
            Row::of("of which reading and indexing them", &build).below(1500.0),
            Row::of("one edit until it is served, by watching", watched),
            Row::of("of which the rebuild: all but the 50 ms of quiet that end a burst of edits", &rebuild)
                .below(100.0),
            Row::of("one edit, then `refresh_skills`, which looks at every file again", refreshed),
            Row::of("`get_skill` in the server, by its own log", &in_server.get_skill).below(1.0),
            Row::of("`get_skill` over HTTP, kept connection", &http.get_skill),
            Row::of("`get_skill` over stdio", &stdio.get_skill),
            Row::of("`server_info` in the server, for comparison", &in_server.server_info),
            Row::of("`server_info` over HTTP", &http.server_info),
            Row::of("`server_info` over stdio", &stdio.server_info),
            Row::of(
                format!("start over stdio until `server/discover` is answered, {SOME} skills"),
                &self.found.discover,
            )
            .below(150.0),
            Row::of("the same until the first `get_skill` is answered", &self.found.first_get_skill),
        ]
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "| milliseconds | median | p99 or worst | to reach |\n|---|--:|--:|--:|")?;
        self.rows().iter().try_for_each(|row| row.fmt(out))?;
        let Found { resident_kib, resident_later_kib, outcomes, rival, .. } = &self.found;
        writeln!(
            out,
            "\nMemory of `lyceum serve` with {MANY} skills: {}, and {} after all calls and edits.",
            mib(*resident_kib),
            mib(*resident_later_kib)
        )?;
        writeln!(
            out,
            "The {TASKS} tasks of a round found one skill {} times, several {} times and none {} times.\n",
            outcomes.found, outcomes.ambiguous, outcomes.nothing
        )?;
        if let Some(both) = rival {
            compare(out, &both.lyceum, &both.rival)?;
        }
        self.facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))
    }
}

/// The other server on the same folders, by its ratio to ours.
fn compare(out: &mut fmt::Formatter<'_>, lyceum: &[Listed], rival: &[Listed]) -> fmt::Result {
    let of = |all: &[Listed], figure: fn(&Listed) -> f64| {
        median(all.iter().map(figure).collect()).unwrap_or(f64::NAN)
    };
    let skills = SOME - SOME / 2;
    writeln!(out, "The same {skills} `SKILL.md` folders over stdio, started in turn:\n")?;
    writeln!(out, "| milliseconds from the start | lyceum | {} | × |\n|---|--:|--:|--:|", rival::NAME)?;
    let mut line = |name: &str, figure: fn(&Listed) -> f64| {
        let (ours, theirs) = (of(lyceum, figure), of(rival, figure));
        writeln!(out, "| {name} | {} | {} | {:.1} |", precise(ours), precise(theirs), theirs / ours)
    };
    line("until `server/discover` is answered", |one| one.ready)?;
    line("until all pages of `resources/list` are", |one| one.listed)?;
    writeln!(out)
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
