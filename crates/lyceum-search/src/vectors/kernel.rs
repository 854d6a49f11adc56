//! The loops that take the time: plain code that the compiler turns into the best this processor can do.

use fearless_simd::{Level, dispatch};

/// A question in the forms that rows are compared with.
#[derive(Debug)]
pub(super) struct Question {
    signs: Vec<u64>,
    values: Vec<i16>,
    scale: f32,
}

/// The largest value of a question, and the largest that its products with bytes may add up to.
const LARGEST: f32 = 16_383.0;
const SUM: f32 = 2_000_000_000.0;

impl Question {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the value is at most 16,383, and a cast of a float saturates"
    )]
    pub(super) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let most = (SUM / 127.0 / vector.len().max(1) as f32).min(LARGEST);
        let scale = if largest > 0.0 { largest / most } else { 1.0 };
        let values: Vec<i16> = vector.iter().map(|value| (value / scale).round() as i16).collect();
        let signs = values.chunks(64).map(|values| signs_of(values.iter().map(|value| *value > 0))).collect();
        Self { signs, values, scale }
    }
}

/// The signs of up to 64 bytes.
pub(super) fn signs(bytes: &[i8]) -> u64 {
    signs_of(bytes.iter().map(|byte| *byte > 0))
}

fn signs_of(bits: impl Iterator<Item = bool>) -> u64 {
    bits.zip(0..64).fold(0, |word, (bit, place)| word | u64::from(bit) << place)
}

/// The rows whose signs are nearest to the question's: `room` of them, and all that are as near as the last.
pub(super) fn nearest(
    level: Level,
    question: &Question,
    codes: &[u64],
    words: usize,
    rows: &[u32],
    room: usize,
) -> Vec<u32> {
    let mut distances = Vec::with_capacity(rows.len());
    dispatch!(level, _simd => distances_of(question, codes, words, rows, &mut distances));
    // A distance is at most the number of dimensions, so that counting finds the last one that is near enough.
    let mut counts = vec![0_usize; question.values.len() + 1];
    for distance in &distances {
        if let Some(count) = counts.get_mut(*distance as usize) {
            *count += 1;
        }
    }
    let mut sum = 0;
    let limit = counts.iter().position(|count| {
        sum += count;
        sum >= room
    });
    let near = rows
        .iter()
        .zip(&distances)
        .filter(|(_, distance)| limit.is_none_or(|limit| **distance as usize <= limit));
    near.map(|(row, _)| *row).collect()
}

// Loops and no closures here: a closure may be compiled for itself, and then without the wide instructions.
#[inline(always)]
fn distances_of(question: &Question, codes: &[u64], words: usize, rows: &[u32], into: &mut Vec<u32>) {
    for row in rows {
        let start = *row as usize * words;
        let code = codes.get(start..start + words).unwrap_or_default();
        let mut distance = 0;
        for (a, b) in code.iter().zip(&question.signs) {
            distance += (a ^ b).count_ones();
        }
        into.push(distance);
    }
}

/// The product of the question with each of these rows, but for their own scales.
pub(super) fn dots(
    level: Level,
    question: &Question,
    bytes: &[i8],
    dimensions: usize,
    rows: &[u32],
) -> Vec<f32> {
    let mut dots = Vec::with_capacity(rows.len());
    dispatch!(level, _simd => dots_of(question, bytes, dimensions, rows, &mut dots));
    dots
}

#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "seven digits of a score are more than its rounding left")]
fn dots_of(question: &Question, bytes: &[i8], dimensions: usize, rows: &[u32], into: &mut Vec<f32>) {
    for row in rows {
        let start = *row as usize * dimensions;
        let bytes = bytes.get(start..start + dimensions).unwrap_or_default();
        let mut dot = 0_i32;
        for (a, b) in question.values.iter().zip(bytes) {
            dot += i32::from(*a) * i32::from(*b);
        }
        into.push(dot as f32 * question.scale);
    }
}
