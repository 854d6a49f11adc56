//! Table of the `http` benchmark.

use super::start::StartTimes;
use super::{CEILING, TYPESCRIPT};
use crate::figures::{median, mib, ratio};
use crate::report::{Report, Row, Table};
use crate::wrk::Measured;

/// Results of one contender.
pub(super) struct Speed {
    name: &'static str,
    /// Requests per second, by round.
    rounds: Vec<f64>,
    /// Median latencies, in milliseconds.
    p50: f64,
    p99: f64,
    resident_kib: u64,
}

impl Speed {
    /// Computes the medians over the rounds.
    #[expect(clippy::cast_precision_loss, reason = "microseconds far below 2^52")]
    pub(super) fn of(name: &'static str, rounds: &[Measured], resident_kib: u64) -> Self {
        let each = |micros: fn(&Measured) -> u64| {
            median(rounds.iter().map(|one| micros(one) as f64 / 1000.0).collect())
        };
        Self {
            name,
            rounds: rounds.iter().map(Measured::per_second).collect(),
            p50: each(|one| one.p50),
            p99: each(|one| one.p99),
            resident_kib,
        }
    }

    fn row(&self, ceiling: &[f64], typescript: &[f64]) -> Row {
        let Self { name, rounds, p50, p99, resident_kib } = self;
        let figures = vec![
            format!("{:.0}", median(rounds.clone())),
            format!("{p50:.2}"),
            format!("{p99:.2}"),
            format!("{:.2}", ratio(rounds, ceiling)),
            format!("{:.1}", ratio(rounds, typescript)),
            mib(*resident_kib),
        ];
        Row::of_figures(*name, figures)
    }
}

/// The report.
pub(super) fn report(speeds: &[Speed], start: &StartTimes) -> Report {
    let rounds = |name| speeds.iter().find(|one| one.name == name).map_or(&[] as &[f64], |one| &one.rounds);
    let (ceiling, typescript) = (rounds(CEILING), rounds(TYPESCRIPT));
    let rows = speeds.iter().map(|one| one.row(ceiling, typescript)).collect();
    let columns =
        ["server", "req/s", "p50 ms", "p99 ms", "of the ceiling", "× TypeScript", "memory after load"];
    let mut report = Report::default();
    report.add(Table::new(&columns, rows));
    report.say(format!(
        "`lyceum serve`: first answer {:.0} ms after its start (median of 10), idle memory {}.",
        start.first_answer.as_secs_f64() * 1000.0,
        mib(start.idle_kib)
    ));
    report
}

#[cfg(test)]
mod tests;
