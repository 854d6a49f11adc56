//! Figures that stand for many, and figures as people read them.

/// The middle value; of two, the lower; not a number where there are none.
pub(super) fn median(values: Vec<f64>) -> f64 {
    quantile(values, 50)
}

/// The value that so many percent of all don't exceed. Always one that occurred; not a number where there are none.
pub(super) fn quantile(mut values: Vec<f64>, percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// How many times as large: the median of the rounds, each compared with itself, for a noisy machine slows neighbours alike.
pub(super) fn ratio(rounds: &[f64], others: &[f64]) -> f64 {
    median(rounds.iter().zip(others).map(|(one, other)| one / other).collect())
}

/// A figure with its unit, with a decimal where it is small.
pub(super) fn in_unit(value: f64, unit: &str) -> String {
    let decimals = usize::from(value < 100.0);
    format!("{value:.decimals$} {unit}")
}

/// Memory as people read it.
pub(super) fn mib(kib: u64) -> String {
    format!("{} MiB", kib.div_ceil(1024))
}

/// Memory in megabytes, not mebibytes.
#[expect(clippy::cast_precision_loss, reason = "KiB far below 2^52")]
pub(super) fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1_000_000.0
}

#[cfg(test)]
mod tests;
