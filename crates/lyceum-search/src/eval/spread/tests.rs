//! Confidence intervals and quantiles.

use super::{Difference, Latency, Mean};

#[test]
fn values_that_are_all_the_same_have_no_noise() {
    assert_eq!(Mean::of(&[0.5; 40]), Mean { mean: 0.5, noise: 0.0 });
    assert_eq!(Mean::of(&[]), Mean::default());
}

#[test]
fn the_noise_is_near_what_the_theory_says() {
    // Half ones, half zeros, 400 of them: 1.96 × 0.5 / √400 = 0.049.
    let values: Vec<f64> = (0..400).map(|place| f64::from(place % 2)).collect();
    let Mean { mean, noise } = Mean::of(&values);
    assert!((mean - 0.5).abs() < 1e-12 && (noise - 0.049).abs() < 0.004, "{mean} {noise}");
}

#[test]
fn the_same_values_give_the_same_interval() {
    let values = [0.1, 0.4, -0.2, 0.3, 0.0, 0.9];
    assert_eq!(Difference::of(&values), Difference::of(&values));
}

#[test]
fn only_a_difference_beyond_chance_is_one() {
    let clear: Vec<f64> = (0..100).map(|place| 0.1 + f64::from(place % 5) / 100.0).collect();
    let chance: Vec<f64> = (0..100).map(|place| f64::from(place % 2) - 0.49).collect();
    assert!(Difference::of(&clear).is_significant());
    assert!(!Difference::of(&chance).is_significant());
}

#[test]
fn a_quantile_is_a_time_that_occurred() {
    let times = (1..=100).rev().map(f64::from).collect();
    assert_eq!(Latency::of(times), Latency { p50: 50.0, p95: 95.0, p99: 99.0 });
    assert_eq!(Latency::of(vec![7.0]), Latency { p50: 7.0, p95: 7.0, p99: 7.0 });
    assert_eq!(Latency::of(Vec::new()), Latency::default());
}
