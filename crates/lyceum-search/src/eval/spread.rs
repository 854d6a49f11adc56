//! Figures that stand for many, and how much of them is chance. Pure: the same values always give the same figures.

use serde::{Deserialize, Serialize};

/// How often questions are drawn anew.
const RESAMPLES: usize = 2_000;

/// Where the dice begin.
const SEED: u64 = 0x6c79_6365_756d;

/// A mean, and how far another choice of as many questions would move it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half of the width of its 95 % interval.
    pub noise: f64,
}

/// What differs between two runs over the same questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The mean of the differences.
    pub mean: f64,
    /// Where its 95 % interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// How long answers took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of them took no longer.
    pub p50: f64,
    /// 95 of 100 took no longer.
    pub p95: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
}

impl Mean {
    /// The mean of one value for each question.
    pub fn of(values: &[f64]) -> Self {
        let Difference { mean, low, high } = Difference::of(values);
        Self { mean, noise: (high - low) / 2.0 }
    }
}

impl Difference {
    /// The mean of one difference for each question, by a bootstrap over questions.
    pub fn of(differences: &[f64]) -> Self {
        let mean = mean(differences.iter().copied(), differences.len());
        if differences.is_empty() {
            return Self { mean, low: mean, high: mean };
        }
        let mut dice = SplitMix64(SEED);
        let mut drawn = || differences.get(dice.below(differences.len())).copied().unwrap_or_default();
        let mut means: Vec<f64> = (0..RESAMPLES).map(|_| mean_of(&mut drawn, differences.len())).collect();
        means.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&means, share);
        Self { mean, low: at(0.025), high: at(0.975) }
    }

    /// Whether it is more than chance.
    pub fn is_significant(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

impl Latency {
    /// The quantiles of times in milliseconds.
    pub fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| quantile(&times, share));
        Self { p50, p95, p99 }
    }
}

fn mean_of(drawn: &mut impl FnMut() -> f64, count: usize) -> f64 {
    mean((0..count).map(|_| drawn()), count)
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    if count == 0 { 0.0 } else { values.sum::<f64>() / count as f64 }
}

/// The value that this share of all don't exceed; always one that occurred. They are in order.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Splitmix64: small, even enough for drawing questions, and the same on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let drawn = (u128::from(z ^ (z >> 31)) * limit as u128) >> 64;
        usize::try_from(drawn).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
