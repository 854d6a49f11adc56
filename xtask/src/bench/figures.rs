//! Figures that stand for many.

/// The middle value; of two, the lower.
pub(super) fn median(values: Vec<f64>) -> Option<f64> {
    quantile(values, 50)
}

/// The value that so many percent of all don't exceed. Always one that occurred.
pub(super) fn quantile(mut values: Vec<f64>, percent: usize) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied()
}

/// Memory as people read it.
pub(super) fn mib(kib: u64) -> String {
    format!("{} MiB", kib.div_ceil(1024))
}

#[cfg(test)]
mod tests;
