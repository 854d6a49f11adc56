//! The flat index against exact search.

use std::collections::HashSet;

use lyceum_harness::random::Random;

use super::{FlatIndex, Owner, VectorTable, decode, encode};
use crate::tests::{direction, unit};

/// Clustered vectors, as those of texts are.
fn vectors(count: usize, dimensions: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut random = Random::of(seed);
    let centres: Vec<Vec<f32>> = (0..200).map(|_| direction(&mut random, dimensions)).collect();
    let near = |random: &mut Random| {
        let centre = &centres[random.below(centres.len())];
        let away = direction(random, dimensions);
        unit(centre.iter().zip(away).map(|(a, b)| a + b).collect())
    };
    (0..count).map(|_| near(&mut random)).collect()
}

fn flat(vectors: &[Vec<f32>], dimensions: usize) -> FlatIndex {
    let mut flat = FlatIndex::new(dimensions);
    for (slot, vector) in (0..).zip(vectors) {
        assert!(flat.insert(Owner { slot, chunk: i64::from(slot) + 1 }, &encode(vector)));
    }
    flat
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Recall@10 against exact search.
fn recall(flat: &FlatIndex, all: &[Vec<f32>], queries: &[Vec<f32>], is_allowed: impl Fn(u32) -> bool) -> f64 {
    let (mut found, mut wanted) = (0, 0);
    for query in queries {
        let mut exact: Vec<(u32, f32)> = (0..)
            .zip(all)
            .filter(|(slot, _)| is_allowed(*slot))
            .map(|(slot, vector)| (slot, dot(query, vector)))
            .collect();
        exact.sort_by(|a, b| b.1.total_cmp(&a.1));
        let best: HashSet<u32> = exact.iter().take(10).map(|(slot, _)| *slot).collect();
        let near = flat.nearest(query, 10, &is_allowed);
        assert!(near.iter().all(|one| is_allowed(one.owner.slot)));
        assert!(near.is_sorted_by(|a, b| a.cosine >= b.cosine));
        for one in &near {
            let is = dot(query, &all[one.owner.slot as usize]);
            assert!((one.cosine - is).abs() < 0.02, "{} is {is}", one.cosine);
        }
        wanted += best.len();
        found += near.iter().filter(|one| best.contains(&one.owner.slot)).count();
    }
    f64::from(u32::try_from(found).unwrap()) / f64::from(u32::try_from(wanted).unwrap())
}

#[test]
fn nearly_all_of_the_nearest_are_found_whatever_is_filtered_out() {
    let all = vectors(20_006, 384, 1);
    let (queries, all) = all.split_at(6);
    let flat = flat(all, 384);
    for (label, part) in [("none", 1), ("nine of ten", 10), ("99 of 100", 100)] {
        let recall = recall(&flat, all, queries, |slot| slot % part == 0);
        eprintln!("recall@10 with {label} filtered out: {recall}");
        assert!(recall >= 0.98, "{label}: {recall}");
    }
}

#[test]
fn vectors_of_any_length_are_compared() {
    for dimensions in [3, 63, 64, 65, 768, 1_536, 3_072] {
        let mut all = vectors(300, dimensions, 2);
        // The largest possible sums.
        all.push(unit(vec![1.0; dimensions]));
        all.push(unit(vec![-1.0; dimensions]));
        let flat = flat(&all, dimensions);
        let same = flat.nearest(&all[300], 1, |_| true);
        assert!((same[0].cosine - 1.0).abs() < 0.01, "{same:?}");
        let least = flat.nearest(&all[300], 302, |_| true);
        assert!((least[301].cosine + 1.0).abs() < 0.01, "{:?}", least[301]);
        assert!(dimensions < 64 || recall(&flat, &all, &all[..5], |_| true) > 0.9);
        assert_eq!(flat.nearest(&vec![0.5; dimensions + 1], 5, |_| true), []);
        assert_eq!(flat.nearest(&all[0], 0, |_| true), []);
    }
}

#[test]
fn rows_that_are_gone_are_not_found_before_or_after_they_are_swept() {
    let all = vectors(6_000, 64, 3);
    let mut flat = flat(&all, 64);
    for step in 0..6 {
        let removed: HashSet<u32> = (0..6_000).filter(|slot| slot % 7 == step).collect();
        flat.remove(&removed);
        flat.remove(&removed);
        let is_left = |slot: u32| slot % 7 > step;
        let left = flat.nearest(&all[0], 10_000, |_| true);
        assert_eq!(left.len(), (0..6_000).filter(|slot| is_left(*slot)).count());
        assert!(left.iter().all(|one| is_left(one.owner.slot)));
        assert!(left.iter().all(|one| one.owner.chunk == i64::from(one.owner.slot) + 1));
        assert!(
            left.iter().all(|one| (one.cosine - dot(&all[0], &all[one.owner.slot as usize])).abs() < 0.03)
        );
    }
    assert!(flat.owners.len() < 3_000, "nothing was compacted");
    assert!(flat.insert(Owner { slot: 9_000, chunk: 1 }, &encode(&all[0])));
    assert_eq!(flat.nearest(&all[0], 1, |_| true)[0].owner.slot, 9_000);
}

#[test]
fn the_chunks_of_some_pages_are_compared_alone() {
    let all = vectors(500, 64, 4);
    let flat = flat(&all, 64);
    let of = flat.score_slots(&all[0], &[0, 3, 499, 7_000]);
    let mut slots: Vec<u32> = of.iter().map(|near| near.owner.slot).collect();
    slots.sort_unstable();
    assert_eq!(slots, [0, 3, 499]);
    assert!(flat.score_slots(&all[0], &[]).is_empty());
}

#[test]
fn what_is_kept_is_what_was_put() {
    let mut random = Random::of(5);
    for dimensions in [1, 2, 384, 1_536] {
        let vector = direction(&mut random, dimensions);
        let stored = encode(&vector);
        assert_eq!(stored.len(), dimensions + 4);
        let (scale, bytes) = decode(&stored).unwrap();
        for (byte, value) in bytes.zip(&vector) {
            assert!((f32::from(byte) * scale - value).abs() <= scale * 0.51);
        }
    }
}

#[test]
fn bytes_that_are_no_vector_are_not_taken() {
    let mut random = Random::of(6);
    let good = encode(&direction(&mut random, 384));
    let mut flat = FlatIndex::new(384);
    let mut check = |stored: &[u8], is_taken: bool| {
        assert_eq!(
            flat.insert(Owner { slot: 1, chunk: 1 }, stored),
            is_taken,
            "{:?}",
            &stored[..stored.len().min(8)]
        );
    };
    check(&good, true);
    check(&[], false);
    check(&good[..3], false);
    check(&good[..387], false);
    check(&[good.as_slice(), &[0]].concat(), false);
    check(&[0; 388], false);
    check(&[0xff; 388], false);
    for scale in [f32::NAN, f32::INFINITY, 0.0, -0.01, 1e30, 1e-30, 1.0] {
        check(&[&scale.to_le_bytes(), &good[4..]].concat(), false);
    }
    // A flip in the high bits of the scale would change results.
    for bit in 0..8 {
        let mut flipped = good.clone();
        flipped[3] ^= 1 << bit;
        check(&flipped, false);
    }
    let noise: Vec<u8> = (0..388).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
    check(&noise, false);
}

#[test]
fn a_table_scores_every_vector_in_order() {
    let vectors = vectors(50, 96, 7);
    let quantized: Vec<Vec<u8>> = vectors.iter().map(|vector| VectorTable::quantize(vector)).collect();
    assert_eq!(quantized[0].len(), VectorTable::quantized_bytes(96));
    let table = VectorTable::new(quantized.iter().map(Vec::as_slice));
    for query in &vectors[..5] {
        let cosines = table.cosines(query);
        assert_eq!(cosines.len(), 50);
        for (vector, cosine) in vectors.iter().zip(cosines) {
            assert!((dot(vector, query) - cosine).abs() < 0.01);
        }
    }
    // A corrupt vector, and a query of another model.
    let table = VectorTable::new([quantized[0].as_slice(), &quantized[1][..50], &[]]);
    let cosines = table.cosines(&vectors[0]);
    assert!(cosines[0] > 0.99 && cosines[1..] == [0.0, 0.0], "{cosines:?}");
    assert_eq!(table.cosines(&[1.0]), [0.0; 3]);
}
