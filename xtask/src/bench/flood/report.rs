//! The table of `docs/benchmarks.md`, and which goals are missed.

use std::fmt;

use super::MAX_GROWTH_MIB;
use super::members::Work;
use crate::bench::figures::{mib, quantile};
use crate::bench::line::{self, Line};
use crate::bench::machine::Fact;

/// How many times longer than in calm the slowest hundredth of members' calls may take.
const RATIO: f64 = 3.0;

/// What came of a flood.
pub(super) struct Flooded {
    pub(super) mode: &'static str,
    pub(super) calm: Work,
    pub(super) work: Work,
    pub(super) attempts: u64,
    /// Resident memory before the flood, and the most there was, in KiB.
    pub(super) before: u64,
    pub(super) peak: u64,
    /// How many calls of members that write were answered, and how many are in the audit log.
    pub(super) written: usize,
    pub(super) recorded: usize,
}

/// Everything that the page says.
pub(super) struct Report<'a> {
    pub(super) floods: &'a [Flooded],
    pub(super) facts: Vec<Fact>,
}

impl Flooded {
    fn lines(&self) -> Vec<Line> {
        let Self { calm, work, attempts, before, peak, written, recorded, .. } = self;
        let of = |work: &Work, percent| quantile(work.times.clone(), percent).unwrap_or(f64::NAN);
        let figures = |work: &Work| {
            let (p50, p99) = (of(work, 50), of(work, 99));
            format!(
                "p50 {p50:.2} ms, p99 {p99:.2} ms, {} calls, {} errors",
                work.times.len(),
                work.errors.len()
            )
        };
        let ratio = of(work, 99) / of(calm, 99);
        let grown = peak.saturating_sub(*before) as f64 / 1024.0;
        vec![
            Line::new("members in calm".to_owned(), figures(calm)),
            Line::new("members in the flood".to_owned(), figures(work)),
            Line::below("p99 in the flood beside calm".to_owned(), "times", ratio, RATIO),
            Line::below(
                format!("memory beyond {} before", mib(*before)),
                "MiB",
                grown,
                MAX_GROWTH_MIB as f64,
            ),
            Line::new("attempts of strangers".to_owned(), attempts.to_string()),
            Line::new("members' writes in the audit log".to_owned(), format!("{recorded} of {written}")),
        ]
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for flood in self.floods {
            line::table(out, &format!("`mode = {:?}`", flood.mode), &flood.lines())?;
        }
        line::sum_up(out, self.floods.iter().flat_map(Flooded::lines))?;
        writeln!(out)?;
        self.facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))
    }
}
