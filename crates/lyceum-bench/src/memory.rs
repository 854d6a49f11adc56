//! The most memory that a process has held so far. Linux only.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How long the figure must stay the same to count as settled, and how long that is waited for.
const SETTLE_TIME: Duration = Duration::from_secs(2);
const SETTLE_TIMEOUT: Duration = Duration::from_secs(60);

/// In KiB; nothing once the process has ended.
pub(super) fn peak_kib(process: u32) -> Option<u64> {
    peak(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// The same, once it does not grow any more.
pub(super) fn settled_peak_kib(process: u32) -> Result<u64> {
    let read = || peak_kib(process).context("memory is read from /proc: run on Linux");
    let (started, mut since, mut most) = (Instant::now(), Instant::now(), read()?);
    while since.elapsed() < SETTLE_TIME && started.elapsed() < SETTLE_TIMEOUT {
        std::thread::sleep(Duration::from_millis(50));
        let now = read()?;
        if now > most {
            (most, since) = (now, Instant::now());
        }
    }
    Ok(most)
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests;
