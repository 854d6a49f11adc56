//! Metrics against values computed by hand.

use super::JudgedResults;

/// nDCG@10, MRR@10, recall@100 and hit@3.
#[track_caller]
fn check(gains: &[f64], all: &[f64], expected: [f64; 4]) {
    let judged = JudgedResults::new(gains.to_vec(), all.to_vec());
    let got = [judged.ndcg(10), judged.reciprocal_rank(10), judged.recall(100), judged.hit(3)];
    let is_near = got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-4);
    assert!(is_near, "{got:?} {expected:?}");
}

#[test]
fn the_best_order_is_worth_one() {
    check(&[3.0, 2.0, 1.0], &[1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn the_gain_is_the_grade_and_not_two_to_its_power() {
    // (1 + 3 / log2(3)) / (3 + 1 / log2(3)) = 2.892789 / 3.630930.
    check(&[1.0, 3.0], &[3.0, 1.0], [0.796_707, 1.0, 1.0, 1.0]);
}

#[test]
fn what_lies_between_costs() {
    // One relevant result at rank four: 1 / log2(5).
    check(&[0.0, 0.0, 0.0, 1.0], &[1.0], [0.430_677, 0.25, 1.0, 0.0]);
    // Two of three relevant results, at ranks two and three: (1/log2(3) + 1/2) / (1 + 1/log2(3) + 1/2).
    check(&[0.0, 1.0, 1.0], &[1.0, 1.0, 1.0], [0.530_721, 0.5, 2.0 / 3.0, 1.0]);
}

#[test]
fn places_beyond_the_depth_do_not_count() {
    let mut gains = vec![0.0; 10];
    gains.push(1.0);
    check(&gains, &[1.0], [0.0, 0.0, 1.0, 0.0]);
    let mut gains = vec![0.0; 100];
    gains.push(1.0);
    check(&gains, &[1.0], [0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn with_more_answers_than_places_the_best_order_is_still_worth_one() {
    check(&[1.0; 10], &[1.0; 40], [1.0, 1.0, 0.25, 1.0]);
}

#[test]
fn nothing_found_and_nothing_to_find_are_worth_nothing() {
    check(&[], &[1.0], [0.0; 4]);
    check(&[0.0, 0.0], &[0.0], [0.0; 4]);
}
