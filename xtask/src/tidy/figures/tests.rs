//! Tests of the statistics.

use super::Figures;
use crate::tidy::file;

#[test]
fn sizes_and_missing_openings_are_listed() {
    let long = "//! Long.\n".repeat(401);
    let files = [file("a.rs", "//! A.\n"), file("b.rs", "fn b() {}\nfn c() {}\n"), file("long.rs", &long)];
    let shown = Figures::of(&files).to_string();
    let expected = "\
3 files, 404 lines, median 2
largest:
    401  long.rs
      2  b.rs
      1  a.rs
over 400 lines:
  long.rs
not starting with `//!`:
  b.rs";
    assert_eq!(shown, expected);
}

#[test]
fn nothing_to_measure_is_no_panic() {
    assert!(Figures::of(&[]).to_string().starts_with("0 files, 0 lines, median 0"));
}
