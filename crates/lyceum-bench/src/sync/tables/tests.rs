//! The tables.

use crate::sync::dataset::DATASETS;
use crate::sync::rest::{Line, Rest};
use crate::sync::served::ServedResults;
use crate::sync::sync_report::Files;
use crate::sync::sync_times::SyncTimes;
use crate::wrk::Measured;

use super::Results;

fn measured(per_second: u64) -> Measured {
    Measured { requests: per_second, micros: 1_000_000, p50: 1000, p99: 2500, refused: 0, broken: 0 }
}

fn results() -> Results {
    let mut times = SyncTimes::of(DATASETS.first().unwrap());
    times.files = Files { published: 274, drafts: 1, unpublished: 1859, skipped: 22, failed: 0 };
    times.in_git = 2156;
    (times.cold, times.cold_took) = (vec![4000.0], vec![3000.0]);
    (times.same, times.same_took) = (vec![155.0, 170.0], vec![90.0]);
    (times.changed, times.changed_took) = (vec![700.0], vec![600.0]);
    times.peak_kib = 50_000;
    let line = Line {
        name: "`GET /api/v1/entries`".to_owned(),
        bytes: 8123,
        lyceum: vec![measured(20_000), measured(30_000)],
        bare: vec![measured(50_000), measured(50_000)],
    };
    Results {
        syncs: vec![times],
        served: Some(ServedResults { ready: vec![150.0], peak_kib: 100_000 }),
        rest: Some(Rest { lines: vec![line], peak_kib: 110_000 }),
        problems: Vec::new(),
    }
}

#[test]
fn figures_stand_beside_their_goals() {
    let shown = results().report().to_string();
    for line in [
        "2156 files = 274 published + 1 drafts + 1859 unpublished + 22 skipped + 0 failed. Cold sync: 539 files or 68 documents per second.",
        "| files lost |  | 0 | 0 ✓ |",
        "| from an empty data folder | 4000 | 4000 | < 8000 ✓ |",
        "| nothing changed | 155 | 170 | < 150 ✗ MISSED |",
        "| from the start until `/readyz` is 200 | 150 | 150 | < 2000 ✓ |",
        "| peak memory once everything is loaded |  | 102 MB | < 200 ✓ |",
        "| `GET /api/v1/entries` | 8123 | 20000 | 2.50 | 50000 | 0.40 | ≥ 10000 ✓, ≥ 0.5 ✗ MISSED |",
        "Goals: 8 of 10 are reached.",
        "- MISSED: knowledge-base: nothing changed: 155, 170 (< 150)",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn a_file_that_is_nowhere_is_a_goal_that_is_missed() {
    let mut results = results();
    results.syncs.iter_mut().for_each(|sync| sync.in_git += 1);
    let shown = results.report().to_string();
    assert!(shown.contains("- MISSED: knowledge-base: files lost: 1 (0)"), "{shown}");
}
