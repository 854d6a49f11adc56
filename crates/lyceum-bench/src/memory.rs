//! Peak resident memory of a process. Linux only.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// The peak counts as settled once it is constant for this long; give up after the timeout.
const SETTLE_TIME: Duration = Duration::from_secs(2);
const SETTLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Peak memory in KiB; `None` once the process has ended.
pub(super) fn peak_kib(process: u32) -> Option<u64> {
    peak(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// Peak memory in KiB, once it stops growing.
pub(super) fn settled_peak_kib(process: u32) -> Result<u64> {
    let read = || peak_kib(process).context("memory is read from /proc: run on Linux");
    let (started, mut since, mut peak_so_far) = (Instant::now(), Instant::now(), read()?);
    while since.elapsed() < SETTLE_TIME && started.elapsed() < SETTLE_TIMEOUT {
        std::thread::sleep(Duration::from_millis(50));
        let now = read()?;
        if now > peak_so_far {
            (peak_so_far, since) = (now, Instant::now());
        }
    }
    Ok(peak_so_far)
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests;
