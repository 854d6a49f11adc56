//! Tests of the figures.

use super::{median, quantile};

#[test]
fn the_median_is_a_value_that_occurred() {
    assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![4.0, 1.0]), Some(1.0));
    assert_eq!(median(Vec::new()), None);
}

#[test]
fn so_many_percent_don_t_exceed_a_quantile() {
    let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    assert_eq!(quantile(hundred.clone(), 99), Some(99.0));
    assert_eq!(quantile(hundred, 100), Some(100.0));
    assert_eq!(quantile(vec![7.0], 1), Some(7.0));
}
