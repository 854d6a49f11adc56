//! Random unit vectors.

use lyceum_harness::random::Random;

/// A random unit vector.
pub(crate) fn direction(random: &mut Random, dimensions: usize) -> Vec<f32> {
    unit((0..dimensions).map(|_| bell(random)).collect())
}

/// A number from -1 to 1, roughly normally distributed.
fn bell(random: &mut Random) -> f32 {
    let sum: usize = (0..4).map(|_| random.below(1_024)).sum();
    f32::from(u16::try_from(sum).unwrap()) / 2_046.0 - 1.0
}

/// Normalizes a vector.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}
