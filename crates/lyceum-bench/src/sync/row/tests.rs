//! Rows.

use super::{of_lost, of_memory, of_times};
use crate::report::{Row, Table};

#[track_caller]
fn check(row: Row, expected: &str) {
    let table = Table::new(&["", "median", "worst"], vec![row]).to_string();
    assert_eq!(table.lines().last(), Some(expected));
}

#[test]
fn the_median_is_held_against_the_goal() {
    check(of_times("cold", &[7000.0, 9000.0, 6000.0], Some(8000.0)), "| cold | 7000 | 9000 | < 8000 ✓ |");
    check(of_times("same", &[160.0], Some(150.0)), "| same | 160 | 160 | < 150 ✗ MISSED |");
    check(of_times("any", &[160.0], None), "| any | 160 | 160 |");
}

#[test]
fn what_was_never_measured_is_missed() {
    check(of_times("cold", &[], Some(8000.0)), "| cold | NaN | NaN | < 8000 ✗ MISSED |");
}

#[test]
fn memory_is_told_in_megabytes_not_mebibytes() {
    check(of_memory("memory", 195_000, Some(200.0)), "| memory |  | 200 MB | < 200 ✓ |");
    check(of_memory("memory", 200 * 1024, Some(200.0)), "| memory |  | 210 MB | < 200 ✗ MISSED |");
}

#[test]
fn not_one_file_may_be_lost() {
    check(of_lost(0), "| files lost |  | 0 | 0 ✓ |");
    check(of_lost(1), "| files lost |  | 1 | 0 ✗ MISSED |");
}
