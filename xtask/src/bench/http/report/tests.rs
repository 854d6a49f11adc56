//! Tests of the table.

use std::time::Duration;

use super::{CEILING, Report, Row, Start, TYPESCRIPT};

fn row(name: &'static str, per_second: f64) -> Row {
    let speeds = vec![per_second / 2.0, per_second, per_second];
    Row { name, speeds, per_second, p50: 1500.0, p99: 12_000.0, resident_kib: 15 * 1024 }
}

#[test]
fn ratios_are_to_the_ceiling_and_to_typescript() {
    let rows = vec![row(CEILING, 20_000.0), row("lyceum, modern JSON", 16_000.0), row(TYPESCRIPT, 1_600.0)];
    let start = Start { first_answer: Duration::from_millis(42), idle_kib: 14_000 };
    let shown = Report { rows, start, facts: vec![("date", "2026-11-15".to_owned())] }.to_string();
    assert!(
        shown.contains("| lyceum, modern JSON | 16000 | 1.50 | 12.00 | 0.80 | 10.0 | 15 MiB |"),
        "{shown}"
    );
    assert!(
        shown.contains("first answer 42 ms after its start (median of 10), idle memory 14 MiB."),
        "{shown}"
    );
    assert!(shown.ends_with("- date: 2026-11-15\n"), "{shown}");
}

#[test]
fn a_ratio_compares_what_ran_side_by_side() {
    let mut fast = row("lyceum", 0.0);
    let mut slow = row(CEILING, 0.0);
    (fast.speeds, slow.speeds) = (vec![90.0, 40.0, 8.0], vec![100.0, 50.0, 10.0]);
    assert!((fast.times(Some(&slow)) - 0.8).abs() < 1e-9);
    assert!(fast.times(None).is_nan());
}
