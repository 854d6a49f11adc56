//! The hot loops: plain code that the compiler vectorizes for the SIMD level of this CPU.

use fearless_simd::{Level, dispatch};

/// A query vector as sign bits and as quantized values.
#[derive(Debug)]
pub(super) struct QuantizedQuery {
    signs: Vec<u64>,
    values: Vec<i16>,
    scale: f32,
}

/// Limits of a quantized query: its largest value, and the largest sum of products with int8 rows, so that i32 does not
/// overflow.
const MAX_VALUE: f32 = 16_383.0;
const MAX_SUM: f32 = 2_000_000_000.0;

impl QuantizedQuery {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the value is at most 16,383, and a cast of a float saturates"
    )]
    pub(super) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let most = (MAX_SUM / 127.0 / vector.len().max(1) as f32).min(MAX_VALUE);
        let scale = if largest > 0.0 { largest / most } else { 1.0 };
        let values: Vec<i16> = vector.iter().map(|value| (value / scale).round() as i16).collect();
        let signs = values.chunks(64).map(|values| signs_of(values.iter().map(|value| *value > 0))).collect();
        Self { signs, values, scale }
    }
}

/// Packs the signs of up to 64 bytes.
pub(super) fn signs(bytes: &[i8]) -> u64 {
    signs_of(bytes.iter().map(|byte| *byte > 0))
}

fn signs_of(bits: impl Iterator<Item = bool>) -> u64 {
    bits.zip(0..64).fold(0, |word, (bit, shift)| word | u64::from(bit) << shift)
}

/// Finds the `min_rows` rows with the smallest Hamming distance to the query, including ties with the last.
pub(super) fn nearest(
    level: Level,
    query: &QuantizedQuery,
    codes: &[u64],
    words_per_row: usize,
    rows: &[u32],
    min_rows: usize,
) -> Vec<u32> {
    let mut distances = Vec::with_capacity(rows.len());
    dispatch!(level, _simd => distances_of(query, codes, words_per_row, rows, &mut distances));
    // A distance is at most the number of dimensions, so a histogram yields the cut-off.
    let mut counts = vec![0_usize; query.values.len() + 1];
    for distance in &distances {
        if let Some(count) = counts.get_mut(*distance as usize) {
            *count += 1;
        }
    }
    let mut sum = 0;
    let limit = counts.iter().position(|count| {
        sum += count;
        sum >= min_rows
    });
    let near = rows
        .iter()
        .zip(&distances)
        .filter(|(_, distance)| limit.is_none_or(|limit| **distance as usize <= limit));
    near.map(|(row, _)| *row).collect()
}

// Loops instead of closures: a closure may be compiled separately, without the wide instructions.
#[inline(always)]
fn distances_of(
    query: &QuantizedQuery,
    codes: &[u64],
    words_per_row: usize,
    rows: &[u32],
    into: &mut Vec<u32>,
) {
    for row in rows {
        let start = *row as usize * words_per_row;
        let code = codes.get(start..start + words_per_row).unwrap_or_default();
        let mut distance = 0;
        for (a, b) in code.iter().zip(&query.signs) {
            distance += (a ^ b).count_ones();
        }
        into.push(distance);
    }
}

/// Dot product of the query with each row, without the row's scale.
pub(super) fn dots(
    level: Level,
    query: &QuantizedQuery,
    bytes: &[i8],
    dimensions: usize,
    rows: &[u32],
) -> Vec<f32> {
    let mut dots = Vec::with_capacity(rows.len());
    dispatch!(level, _simd => dots_of(query, bytes, dimensions, rows, &mut dots));
    dots
}

#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "f32 precision exceeds the quantization error")]
fn dots_of(query: &QuantizedQuery, bytes: &[i8], dimensions: usize, rows: &[u32], into: &mut Vec<f32>) {
    for row in rows {
        let start = *row as usize * dimensions;
        let bytes = bytes.get(start..start + dimensions).unwrap_or_default();
        let mut dot = 0_i32;
        for (a, b) in query.values.iter().zip(bytes) {
            dot += i32::from(*a) * i32::from(*b);
        }
        into.push(dot as f32 * query.scale);
    }
}
