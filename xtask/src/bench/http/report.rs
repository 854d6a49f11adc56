//! The table, and its place in `docs/benchmarks.md`.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::start::Start;
use super::wrk::Measured;
use super::{CEILING, TYPESCRIPT};

const OPENING: &str = "<!-- bench:http -->";
const CLOSING: &str = "<!-- /bench:http -->";

/// A page without figures yet.
const EMPTY_PAGE: &str = "# Benchmarks\n\nWritten by `cargo xtask bench http --write`; compare ratios, not machines.\n\n\
    <!-- bench:http -->\n<!-- /bench:http -->\n";

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

/// Puts the text between the markers of the page, which is made if it is missing.
pub(super) fn write(page: &Path, text: &str) -> Result<()> {
    let old = fs::read_to_string(page).unwrap_or_else(|_| EMPTY_PAGE.to_owned());
    let new = replaced(&old, text).with_context(|| {
        format!("{} has no section; add the lines {OPENING} and {CLOSING}", page.display())
    })?;
    page.parent().map_or(Ok(()), fs::create_dir_all).context("could not make the folder of the page")?;
    fs::write(page, new).with_context(|| format!("could not write {}", page.display()))
}

fn replaced(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(OPENING)?;
    let (_, after) = rest.split_once(CLOSING)?;
    Some(format!("{before}{OPENING}\n\n{}\n\n{CLOSING}{after}", text.trim()))
}

/// The middle value; of two, the lower.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

fn mib(kib: u64) -> String {
    format!("{} MiB", kib.div_ceil(1024))
}

#[cfg(test)]
mod tests;
