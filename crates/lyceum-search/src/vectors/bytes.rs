//! A vector as it is kept: its scale as four bytes, then a byte for each dimension. A quarter of the size, and what is
//! found with it differs from what is found without in one of two hundred (ADR 11).

/// A vector of length one in its kept form.
pub(crate) fn encode(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let mut stored = Vec::with_capacity(vector.len() + 4);
    stored.extend(scale.to_le_bytes());
    stored.extend(vector.iter().map(|value| byte(value / scale).to_le_bytes()).map(|[byte]| byte));
    stored
}

/// The scale and the bytes of a kept vector; nothing for what is none.
#[expect(clippy::cast_precision_loss, reason = "four digits of a length are enough")]
pub(crate) fn decode(stored: &[u8]) -> Option<(f32, impl ExactSizeIterator<Item = i8> + '_)> {
    let (scale, bytes) = stored.split_first_chunk()?;
    let scale = f32::from_le_bytes(*scale);
    let bytes = bytes.iter().map(|byte| i8::from_le_bytes([*byte]));
    let squares: i64 = bytes.clone().map(|byte| i64::from(byte) * i64::from(byte)).sum();
    // Its length is one, but for rounding; what is damaged would be near to every question, or to none.
    LENGTHS.contains(&(scale * (squares as f32).sqrt())).then_some((scale, bytes))
}

/// How long a vector of length one may be after rounding.
const LENGTHS: std::ops::RangeInclusive<f32> = 0.9..=1.1;

#[expect(
    clippy::cast_possible_truncation,
    reason = "the value is at most 127, and a cast of a float saturates"
)]
fn byte(value: f32) -> i8 {
    value.round() as i8
}
