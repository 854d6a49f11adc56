//! Tables of the `flood` benchmark, one per sign-in mode.

use super::MAX_GROWTH_MIB;
use super::members::MemberStats;
use crate::figures::{in_unit, mib, quantile};
use crate::report::{Report, Row, Table};

/// Goal for the ratio of the members' p99 under attack to that without.
const MAX_SLOWDOWN: f64 = 3.0;

/// Results of one flood.
pub(super) struct FloodResults {
    pub(super) mode: &'static str,
    pub(super) calm: MemberStats,
    pub(super) work: MemberStats,
    pub(super) attempts: u64,
    /// Resident memory before the flood, and the peak, in KiB.
    pub(super) before: u64,
    pub(super) peak: u64,
    /// Successful writing calls of members, and how many of them are in the audit log.
    pub(super) written: usize,
    pub(super) recorded: usize,
}

/// The report of all floods.
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
            Row::new("members without flood", figures(calm)),
            Row::new("members during the flood", figures(work)),
            Row::new("p99 during the flood, compared with none", in_unit(ratio, "times"))
                .below(ratio, MAX_SLOWDOWN),
            Row::new(format!("memory growth, from {}", mib(*before)), in_unit(grown, "MiB"))
                .below(grown, MAX_GROWTH_MIB as f64),
            Row::new("attempts of attackers", attempts.to_string()),
            Row::new("members' writes in the audit log", format!("{recorded} of {written}")),
        ]
    }
}
