//! The table of `docs/benchmarks.md`.

use std::fmt;

use anyhow::{Context, Result};

use super::start::Start;
use super::{CEILING, TYPESCRIPT};
use crate::bench::figures::{median, mib};
use crate::bench::wrk::Measured;

/// The medians of one contender.
pub(super) struct Row {
    name: &'static str,
    /// Answers per second, round by round.
    speeds: Vec<f64>,
    per_second: f64,
    p50: f64,
    p99: f64,
    resident_kib: u64,
}

/// All that was found.
pub(super) struct Report {
    pub(super) rows: Vec<Row>,
    pub(super) start: Start,
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Row {
    /// Takes the median of each figure over the rounds.
    #[expect(clippy::cast_precision_loss, reason = "microseconds far below 2^52")]
    pub(super) fn of(name: &'static str, rounds: &[Measured], resident_kib: u64) -> Result<Self> {
        let each = |figure: fn(&Measured) -> f64| {
            median(rounds.iter().map(figure).collect())
                .context("no round was measured: use --rounds 1 or more")
        };
        Ok(Self {
            name,
            speeds: rounds.iter().map(Measured::per_second).collect(),
            per_second: each(Measured::per_second)?,
            p50: each(|m| m.p50 as f64)?,
            p99: each(|m| m.p99 as f64)?,
            resident_kib,
        })
    }

    /// How many times as fast it is: the median of the rounds, each compared with itself, for a noisy machine slows
    /// neighbours alike.
    fn times(&self, other: Option<&Self>) -> f64 {
        let other = other.map_or(&[] as &[f64], |row| &row.speeds);
        median(self.speeds.iter().zip(other).map(|(mine, theirs)| mine / theirs).collect())
            .unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let find = |name| self.rows.iter().find(|row| row.name == name);
        let (ceiling, typescript) = (find(CEILING), find(TYPESCRIPT));
        writeln!(
            out,
            "| server | req/s | p50 ms | p99 ms | of the ceiling | × TypeScript | memory after load |"
        )?;
        writeln!(out, "|---|--:|--:|--:|--:|--:|--:|")?;
        for row in &self.rows {
            let Row { name, per_second, p50, p99, resident_kib, .. } = row;
            let (share, times) = (row.times(ceiling), row.times(typescript));
            let (p50, p99, memory) = (p50 / 1000.0, p99 / 1000.0, mib(*resident_kib));
            writeln!(
                out,
                "| {name} | {per_second:.0} | {p50:.2} | {p99:.2} | {share:.2} | {times:.1} | {memory} |"
            )?;
        }
        let first = self.start.first_answer.as_secs_f64() * 1000.0;
        let idle = mib(self.start.idle_kib);
        writeln!(
            out,
            "\n`lyceum serve`: first answer {first:.0} ms after its start (median of 10), idle memory {idle}.\n"
        )?;
        self.facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))
    }
}

#[cfg(test)]
mod tests;
