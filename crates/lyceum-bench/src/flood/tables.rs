//! The tables of a flood, one for each way to sign in.

use super::MAX_GROWTH_MIB;
use super::members::MemberStats;
use crate::figures::{in_unit, mib, quantile};
use crate::report::{Report, Row, Table};

/// How many times longer than in calm the slowest hundredth of members' calls may take.
const MAX_SLOWDOWN: f64 = 3.0;

/// What came of a flood.
pub(super) struct FloodResults {
    pub(super) mode: &'static str,
    pub(super) calm: MemberStats,
    pub(super) work: MemberStats,
    pub(super) attempts: u64,
    /// Resident memory before the flood, and the most there was, in KiB.
    pub(super) before: u64,
    pub(super) peak: u64,
    /// How many calls of members that write were answered, and how many are in the audit log.
    pub(super) written: usize,
    pub(super) recorded: usize,
}

/// What came of all floods.
pub(super) fn report(floods: &[FloodResults]) -> Report {
    let mut report = Report::default();
    for flood in floods {
        report.add(Table::of_figures(flood.rows()).titled(format!("`mode = {:?}`", flood.mode)));
    }
    report
}

impl FloodResults {
    fn rows(&self) -> Vec<Row> {
        let Self { calm, work, attempts, before, peak, written, recorded, .. } = self;
        let of = |work: &MemberStats, percent| quantile(work.times.clone(), percent);
        let figures = |work: &MemberStats| {
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
            Row::new("members in calm", figures(calm)),
            Row::new("members in the flood", figures(work)),
            Row::new("p99 in the flood beside calm", in_unit(ratio, "times")).below(ratio, MAX_SLOWDOWN),
            Row::new(format!("memory beyond {} before", mib(*before)), in_unit(grown, "MiB"))
                .below(grown, MAX_GROWTH_MIB as f64),
            Row::new("attempts of strangers", attempts.to_string()),
            Row::new("members' writes in the audit log", format!("{recorded} of {written}")),
        ]
    }
}
