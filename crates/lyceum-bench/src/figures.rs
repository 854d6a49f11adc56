//! Statistics and number formatting.

/// The median (the lower of two middle values); NaN for no values.
pub(super) fn median(values: Vec<f64>) -> f64 {
    quantile(values, 50)
}

/// Nearest-rank quantile; NaN for no values.
pub(super) fn quantile(mut values: Vec<f64>, percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Median of the per-round ratios: noise of the machine affects both measurements of a round alike.
pub(super) fn ratio(rounds: &[f64], others: &[f64]) -> f64 {
    median(rounds.iter().zip(others).map(|(one, other)| one / other).collect())
}

/// A number with its unit; one decimal below 100.
pub(super) fn in_unit(value: f64, unit: &str) -> String {
    let decimals = usize::from(value < 100.0);
    format!("{value:.decimals$} {unit}")
}

/// Memory in MiB.
pub(super) fn mib(kib: u64) -> String {
    format!("{} MiB", kib.div_ceil(1024))
}

/// Memory in MB (10^6 bytes).
#[expect(clippy::cast_precision_loss, reason = "KiB far below 2^52")]
pub(super) fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1_000_000.0
}

#[cfg(test)]
mod tests;
