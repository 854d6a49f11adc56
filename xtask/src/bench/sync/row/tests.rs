//! Tests of figures and goals.

use super::{Checked, Row};

#[track_caller]
fn check(row: &Row, expected: &str) {
    assert_eq!(row.to_string().trim_end(), expected);
}

#[test]
fn the_median_is_held_against_the_goal() {
    check(
        &Row::of_times("cold", &[7000.0, 9000.0, 6000.0], Some(8000.0)),
        "| cold | 7000 | 9000 | < 8000 ✓ |",
    );
    check(&Row::of_times("same", &[160.0], Some(150.0)), "| same | 160 | 160 | < 150 ✗ MISSED |");
    check(&Row::of_times("any", &[160.0], None), "| any | 160 | 160 |  |");
}

#[test]
fn what_was_never_measured_is_missed() {
    check(&Row::of_times("cold", &[], Some(8000.0)), "| cold | NaN | NaN | < 8000 ✗ MISSED |");
}

#[test]
fn memory_is_told_in_megabytes_not_mebibytes() {
    check(&Row::of_memory("memory", 195_000, Some(200.0)), "| memory |  | 200 MB | < 200 ✓ |");
    check(&Row::of_memory("memory", 200 * 1024, Some(200.0)), "| memory |  | 210 MB | < 200 ✗ MISSED |");
}

#[test]
fn not_one_file_may_be_lost() {
    assert_eq!(Checked::none(0).text, "0 ✓");
    assert!(Checked::none(1).is_missed);
}
