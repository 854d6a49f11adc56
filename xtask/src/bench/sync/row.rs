//! A line of a table: figures, and what they should be.

use std::fmt;

use super::rest::Line;
use crate::bench::figures::median;
use crate::bench::wrk::Measured;

/// What REST should reach: answers per second, and the part of what bare axum reaches.
const PER_SECOND: f64 = 10_000.0;
const RATIO: f64 = 0.5;

const REACHED: &str = "✓";
const MISSED: &str = "✗ MISSED";

/// A figure and what it should be.
pub(super) struct Checked {
    /// Empty where nothing is to be reached.
    pub(super) text: String,
    pub(super) is_missed: bool,
}

impl Checked {
    fn below(figure: f64, goal: Option<f64>) -> Self {
        Self::new(goal.map(|goal| (format!("< {goal}"), figure < goal)))
    }

    fn at_least(figure: f64, goal: f64) -> Self {
        Self::new(Some((format!("≥ {goal}"), figure >= goal)))
    }

    fn new(goal: Option<(String, bool)>) -> Self {
        match goal {
            None => Self { text: String::new(), is_missed: false },
            Some((goal, true)) => Self { text: format!("{goal} {REACHED}"), is_missed: false },
            Some((goal, false)) => Self { text: format!("{goal} {MISSED}"), is_missed: true },
        }
    }

    /// Nothing may be lost.
    pub(super) fn none(lost: usize) -> Self {
        let mark = if lost == 0 { REACHED } else { MISSED };
        Self { text: format!("{lost} {mark}"), is_missed: lost > 0 }
    }
}

/// A line of a table.
pub(super) struct Row {
    pub(super) name: String,
    figures: Vec<String>,
    pub(super) goals: Vec<Checked>,
}

impl Row {
    /// Times in milliseconds.
    pub(super) fn of_times(name: impl Into<String>, times: &[f64], goal: Option<f64>) -> Self {
        let worst = times.iter().copied().fold(f64::NAN, f64::max);
        let middle = middle(times);
        let figures = vec![format!("{middle:.0}"), format!("{worst:.0}")];
        Self { name: name.into(), figures, goals: vec![Checked::below(middle, goal)] }
    }

    /// Memory in megabytes.
    pub(super) fn of_memory(name: impl Into<String>, kib: u64, goal: Option<f64>) -> Self {
        let megabytes = megabytes(kib);
        let figures = vec![String::new(), format!("{megabytes:.0} MB")];
        Self { name: name.into(), figures, goals: vec![Checked::below(megabytes, goal)] }
    }

    /// Answers per second, beside bare axum.
    pub(super) fn of_rest(line: &Line) -> Self {
        let speeds = |all: &[Measured]| all.iter().map(Measured::per_second).collect::<Vec<_>>();
        let (ours, bare) = (speeds(&line.lyceum), speeds(&line.bare));
        // Each round is compared with itself: a noisy machine slows neighbours alike.
        let ratios: Vec<f64> = ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect();
        let (speed, ratio) = (middle(&ours), middle(&ratios));
        #[expect(clippy::cast_precision_loss, reason = "microseconds far below 2^52")]
        let p99 = middle(&line.lyceum.iter().map(|one| one.p99 as f64 / 1000.0).collect::<Vec<_>>());
        let figures = vec![
            line.bytes.to_string(),
            format!("{speed:.0}"),
            format!("{p99:.2}"),
            format!("{:.0}", middle(&bare)),
            format!("{ratio:.2}"),
        ];
        let goals = vec![Checked::at_least(speed, PER_SECOND), Checked::at_least(ratio, RATIO)];
        Self { name: line.name.clone(), figures, goals }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goals: Vec<&str> = self.goals.iter().map(|goal| goal.text.as_str()).collect();
        writeln!(out, "| {} | {} | {} |", self.name, self.figures.join(" | "), goals.join(", "))
    }
}

/// The median; not a number where there are none.
pub(super) fn middle(values: &[f64]) -> f64 {
    median(values.to_vec()).unwrap_or(f64::NAN)
}

#[expect(clippy::cast_precision_loss, reason = "KiB far below 2^52")]
fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1_000_000.0
}

#[cfg(test)]
mod tests;
