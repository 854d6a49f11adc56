//! Tables of the `sync` benchmark.

use super::dataset::SERVED;
use super::rest::Rest;
use super::row::{of_memory, of_rest, of_times};
use super::served::ServedResults;
use super::sync_times::SyncTimes;
use crate::report::{Report, Row, Table};

/// Goal for a restart, in milliseconds.
const MAX_READY_MS: f64 = 2000.0;

/// Goal for the server's memory, in megabytes.
const MAX_MEMORY_MB: f64 = 200.0;

/// All results.
#[derive(Default)]
pub(super) struct Results {
    pub(super) syncs: Vec<SyncTimes>,
    pub(super) served: Option<ServedResults>,
    pub(super) rest: Option<Rest>,
    /// Measurements that failed, with the reason.
    pub(super) problems: Vec<String>,
}

impl Results {
    pub(super) fn report(&self) -> Report {
        let mut report = Report::default();
        self.syncs.iter().for_each(|sync| sync.add_to(&mut report));
        if self.served.is_some() || self.rest.is_some() {
            let title = format!("`lyceum serve` with {SERVED}, already synced");
            report.add(Table::new(&["milliseconds", "median", "worst"], self.served_rows()).titled(title));
        }
        if let Some(rest) = &self.rest {
            let columns = ["64 connections", "bytes", "req/s", "p99 ms", "bare axum req/s", "of bare"];
            report.add(Table::new(&columns, rest.lines.iter().map(of_rest).collect()));
        }
        report
    }

    fn served_rows(&self) -> Vec<Row> {
        let served = self.served.iter().flat_map(|served| {
            [
                of_times("from the start until `/readyz` is 200", &served.ready, Some(MAX_READY_MS)),
                of_memory("peak memory once everything is loaded", served.peak_kib, Some(MAX_MEMORY_MB)),
            ]
        });
        let rest = self
            .rest
            .iter()
            .map(|rest| of_memory("peak memory after all calls below", rest.peak_kib, Some(MAX_MEMORY_MB)));
        served.chain(rest).collect()
    }
}

#[cfg(test)]
mod tests;
