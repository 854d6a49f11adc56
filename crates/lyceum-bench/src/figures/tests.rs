//! Statistics and number formatting.

use super::{in_unit, median, megabytes, quantile, ratio};

#[test]
fn the_median_is_a_value_that_occurred() {
    assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(vec![4.0, 1.0]), 1.0);
    assert!(median(Vec::new()).is_nan());
}

#[test]
fn so_many_percent_don_t_exceed_a_quantile() {
    let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    assert_eq!(quantile(hundred.clone(), 99), 99.0);
    assert_eq!(quantile(hundred, 100), 100.0);
    assert_eq!(quantile(vec![7.0], 1), 7.0);
}

#[test]
fn a_ratio_compares_what_ran_side_by_side() {
    assert!((ratio(&[90.0, 40.0, 8.0], &[100.0, 50.0, 10.0]) - 0.8).abs() < 1e-9);
    assert!(ratio(&[90.0], &[]).is_nan());
}

#[test]
fn a_small_figure_has_a_decimal() {
    assert_eq!([in_unit(9.0, "µs"), in_unit(400.0, "s")], ["9.0 µs", "400 s"]);
}

#[test]
fn memory_is_told_in_megabytes_not_mebibytes() {
    assert_eq!(format!("{:.0}", megabytes(200 * 1024)), "210");
}
