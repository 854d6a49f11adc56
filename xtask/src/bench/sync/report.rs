//! The tables of `docs/benchmarks.md`, and which goals are missed.

use std::fmt;

use super::brought::Brought;
use super::material::SERVED;
use super::rest::Rest;
use super::row::{Checked, Row};
use super::served::Served;
use crate::bench::machine::Fact;

/// What a restart should stay under, in milliseconds.
const READY: f64 = 2000.0;

/// What the server should stay under, in megabytes.
const MEMORY: f64 = 200.0;

/// Everything that the page says.
#[derive(Default)]
pub(super) struct Report {
    pub(super) brought: Vec<Brought>,
    pub(super) served: Option<Served>,
    pub(super) rest: Option<Rest>,
    /// What could not be measured, and why.
    pub(super) problems: Vec<String>,
    pub(super) facts: Vec<Fact>,
}

impl Report {
    fn served_rows(&self) -> Vec<Row> {
        let served = self.served.iter().flat_map(|served| {
            [
                Row::of_times("from the start until `/readyz` is 200", &served.ready, Some(READY)),
                Row::of_memory("memory once everything is loaded, at most", served.peak_kib, Some(MEMORY)),
            ]
        });
        let rest = self
            .rest
            .iter()
            .map(|rest| Row::of_memory("memory after all calls below, at most", rest.peak_kib, Some(MEMORY)));
        served.chain(rest).collect()
    }

    fn rest_rows(&self) -> Vec<Row> {
        self.rest.iter().flat_map(|rest| &rest.lines).map(Row::of_rest).collect()
    }

    /// The goals that are missed, and how many there are in all.
    fn missed(&self) -> (Vec<String>, usize) {
        let mut all: Vec<(String, Vec<Checked>)> = Vec::new();
        for brought in &self.brought {
            all.push((format!("{}: lost", brought.name()), vec![Checked::none(brought.lost())]));
            let rows = brought.rows().into_iter();
            all.extend(rows.map(|row| (format!("{}: {}", brought.name(), row.name), row.goals)));
        }
        let rows = self.served_rows().into_iter().chain(self.rest_rows());
        all.extend(rows.map(|row| (row.name, row.goals)));
        let goals = all.iter().flat_map(|(name, goals)| goals.iter().map(move |goal| (name, goal)));
        let goals: Vec<_> = goals.filter(|(_, goal)| !goal.text.is_empty()).collect();
        let missed = goals.iter().filter(|(_, goal)| goal.is_missed);
        (missed.map(|(name, goal)| format!("{name} ({})", goal.text)).collect(), goals.len())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.brought.iter().try_for_each(|brought| brought.fmt(out))?;
        if self.served.is_some() || self.rest.is_some() {
            writeln!(out, "### `lyceum serve` with {SERVED}, brought in before\n")?;
            writeln!(out, "| milliseconds | median | worst | to reach |\n|---|--:|--:|--:|")?;
            self.served_rows().iter().try_for_each(|row| row.fmt(out))?;
            writeln!(out)?;
        }
        if self.rest.is_some() {
            writeln!(
                out,
                "| 64 connections | bytes | req/s | p99 ms | bare axum req/s | of bare | to reach |"
            )?;
            writeln!(out, "|---|--:|--:|--:|--:|--:|--:|")?;
            self.rest_rows().iter().try_for_each(|row| row.fmt(out))?;
            writeln!(out)?;
        }
        let (missed, of) = self.missed();
        writeln!(out, "Goals: {} of {of} are reached.\n", of - missed.len())?;
        missed.iter().try_for_each(|name| writeln!(out, "- MISSED: {name}"))?;
        self.problems.iter().try_for_each(|problem| writeln!(out, "- NOT MEASURED: {problem}"))?;
        writeln!(out)?;
        self.facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))
    }
}

#[cfg(test)]
mod tests;
