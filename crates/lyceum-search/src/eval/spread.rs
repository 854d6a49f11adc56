//! Means, bootstrap confidence intervals and latency quantiles. Pure and deterministic.

use serde::{Deserialize, Serialize};

/// Number of bootstrap resamples.
const RESAMPLES: usize = 2_000;

/// Seed of the random generator.
const SEED: u64 = 0x6c79_6365_756d;

/// A mean with its uncertainty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half-width of the 95 % confidence interval.
    pub noise: f64,
}

/// Paired difference of two runs over the same queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Mean of the differences.
    pub mean: f64,
    /// Lower bound of the 95 % confidence interval.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Latency quantiles, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Mean {
    /// Computes the mean of one value per query.
    pub fn of(values: &[f64]) -> Self {
        let Difference { mean, low, high } = Difference::of(values);
        Self { mean, noise: (high - low) / 2.0 }
    }
}

impl Difference {
    /// Computes the mean of one difference per query, with a bootstrap over queries.
    pub fn of(differences: &[f64]) -> Self {
        let mean = mean(differences.iter().copied(), differences.len());
        if differences.is_empty() {
            return Self { mean, low: mean, high: mean };
        }
        let mut random = SplitMix64(SEED);
        let mut sample = || differences.get(random.below(differences.len())).copied().unwrap_or_default();
        let mut means: Vec<f64> = (0..RESAMPLES).map(|_| mean_of(&mut sample, differences.len())).collect();
        means.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&means, share);
        Self { mean, low: at(0.025), high: at(0.975) }
    }

    /// Whether the confidence interval excludes zero.
    pub fn is_significant(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

impl Latency {
    /// Computes the quantiles of times in milliseconds.
    pub fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| quantile(&times, share));
        Self { p50, p95, p99 }
    }
}

fn mean_of(sample: &mut impl FnMut() -> f64, count: usize) -> f64 {
    mean((0..count).map(|_| sample()), count)
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    if count == 0 { 0.0 } else { values.sum::<f64>() / count as f64 }
}

/// Nearest-rank quantile of sorted values; always one of the values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// SplitMix64: small, uniform enough for resampling, and the same on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let sample = (u128::from(z ^ (z >> 31)) * limit as u128) >> 64;
        usize::try_from(sample).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
