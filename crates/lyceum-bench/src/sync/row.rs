//! Rows of the `sync` tables.

use super::rest::Line;
use crate::figures::{median, megabytes, ratio};
use crate::report::Row;
use crate::wrk::Measured;

/// Goals for REST: requests per second, and the ratio to bare axum.
const MIN_PER_SECOND: f64 = 10_000.0;
const MIN_RATIO: f64 = 0.5;

/// Times in milliseconds: median, with a goal, and maximum.
pub(super) fn of_times(name: impl Into<String>, times: &[f64], goal: Option<f64>) -> Row {
    let worst = times.iter().copied().fold(f64::NAN, f64::max);
    let median_time = median(times.to_vec());
    below(Row::of_figures(name, vec![format!("{median_time:.0}"), format!("{worst:.0}")]), median_time, goal)
}

/// Memory in megabytes.
pub(super) fn of_memory(name: impl Into<String>, kib: u64, goal: Option<f64>) -> Row {
    let megabytes = megabytes(kib);
    below(Row::of_figures(name, vec![String::new(), format!("{megabytes:.0} MB")]), megabytes, goal)
}

/// Files that are not accounted for; the goal is none.
pub(super) fn of_lost(lost: usize) -> Row {
    Row::of_figures("files lost", vec![String::new(), lost.to_string()]).goal("0", lost == 0)
}

/// Requests per second, compared with bare axum.
pub(super) fn of_rest(line: &Line) -> Row {
    let speeds = |all: &[Measured]| all.iter().map(Measured::per_second).collect::<Vec<_>>();
    let (ours, bare) = (speeds(&line.lyceum), speeds(&line.bare));
    let (ratio, speed) = (ratio(&ours, &bare), median(ours));
    #[expect(clippy::cast_precision_loss, reason = "microseconds far below 2^52")]
    let p99 = median(line.lyceum.iter().map(|one| one.p99 as f64 / 1000.0).collect());
    let figures = vec![
        line.bytes.to_string(),
        format!("{speed:.0}"),
        format!("{p99:.2}"),
        format!("{:.0}", median(bare)),
        format!("{ratio:.2}"),
    ];
    Row::of_figures(&line.name, figures).at_least(speed, MIN_PER_SECOND).at_least(ratio, MIN_RATIO)
}

fn below(row: Row, value: f64, goal: Option<f64>) -> Row {
    match goal {
        Some(goal) => row.below(value, goal),
        None => row,
    }
}

#[cfg(test)]
mod tests;
