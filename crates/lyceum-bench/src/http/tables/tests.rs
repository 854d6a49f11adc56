//! The table.

use std::time::Duration;

use super::{CEILING, Speed, StartTimes, TYPESCRIPT, report};

fn speed(name: &'static str, per_second: f64) -> Speed {
    let rounds = vec![per_second / 2.0, per_second, per_second];
    Speed { name, rounds, p50: 1.5, p99: 12.0, resident_kib: 15 * 1024 }
}

#[test]
fn ratios_are_to_the_ceiling_and_to_typescript() {
    let speeds =
        [speed(CEILING, 20_000.0), speed("lyceum, modern JSON", 16_000.0), speed(TYPESCRIPT, 1_600.0)];
    let start = StartTimes { first_answer: Duration::from_millis(42), idle_kib: 14_000 };
    let shown = report(&speeds, &start).to_string();
    assert!(
        shown.contains("| lyceum, modern JSON | 16000 | 1.50 | 12.00 | 0.80 | 10.0 | 15 MiB |"),
        "{shown}"
    );
    assert!(
        shown.contains("first answer 42 ms after its start (median of 10), idle memory 14 MiB."),
        "{shown}"
    );
    assert!(!shown.contains("Goals"), "{shown}");
}
