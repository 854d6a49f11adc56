//! Score fusion.

use super::{Candidate, fuse, nearest_chunks};
use crate::page::Kind;

fn candidate(page: i64, bm25: Option<f32>, cosine: Option<f32>) -> Candidate {
    Candidate { page, kind: Kind::Prose, bm25, cosine: cosine.map(|cosine| (cosine, page * 10)) }
}

#[track_caller]
fn check(candidates: &[(i64, Option<f32>, Option<f32>)], expected: &[i64]) {
    let candidates = candidates.iter().map(|(page, bm25, cosine)| candidate(*page, *bm25, *cosine));
    let fused = fuse(candidates);
    let order: Vec<i64> = fused.iter().map(|one| one.candidate.page).collect();
    assert_eq!(order, expected, "{fused:?}");
    assert!(fused.iter().all(|one| one.score.is_finite()));
}

#[test]
fn without_vectors_words_decide() {
    check(&[(1, Some(1.0), None), (2, Some(9.0), None), (3, Some(4.0), None)], &[2, 3, 1]);
}

#[test]
fn without_words_meaning_decides() {
    check(&[(1, None, Some(0.3)), (2, None, Some(0.9)), (3, None, Some(0.5))], &[2, 3, 1]);
}

#[test]
fn both_are_better_than_one() {
    check(&[(1, Some(5.0), Some(0.5)), (2, None, Some(0.75)), (3, Some(5.0), Some(0.2))], &[1, 2, 3]);
}

#[test]
fn what_is_far_and_shares_no_word_is_left_out() {
    check(&[(1, None, Some(0.1)), (2, Some(0.1), Some(0.1)), (3, None, Some(-1.0)), (4, None, None)], &[2]);
}

#[test]
fn a_page_whose_vectors_are_still_to_come_is_in_the_middle() {
    check(
        &[
            (1, Some(5.0), Some(0.9)),
            (2, Some(5.0), None),
            (3, Some(5.0), Some(0.1)),
            (4, Some(5.0), Some(0.4)),
        ],
        &[1, 2, 4, 3],
    );
}

#[test]
fn those_that_are_level_keep_the_order_of_their_numbers() {
    check(&[(7, Some(2.0), None), (3, Some(2.0), None), (5, Some(2.0), None)], &[3, 5, 7]);
}

#[test]
fn nothing_and_worthless_words_are_no_trouble() {
    check(&[], &[]);
    check(&[(1, Some(0.0), None), (2, Some(0.0), Some(0.5))], &[1, 2]);
}

#[test]
fn a_page_is_as_near_as_its_nearest_chunk() {
    let best = nearest_chunks([(1, 0.2, 10), (1, 0.7, 11), (2, 0.1, 20), (1, 0.5, 12)]);
    assert_eq!(best.get(&1), Some(&(0.7, 11)));
    assert_eq!(best.get(&2), Some(&(0.1, 20)));
}
