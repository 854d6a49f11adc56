//! Back-off before the next round. Pure.

use std::time::Duration;

use lyceum_net::{Backoff, with_jitter};

/// Maximum back-off, unless the endpoint asks for more.
const MAX_BACKOFF: Duration = Duration::from_secs(600);

/// Maximum `Retry-After` that is respected.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// Exponential back-off with jitter, after that many consecutive failures.
pub(super) fn after_failures(interval: Duration, failures: u32, jitter: u8) -> Duration {
    let backoff = Backoff { first: interval, max: MAX_BACKOFF.max(interval) };
    with_jitter(backoff.after(failures.saturating_add(1)), jitter)
}

/// The requested delay, within limits.
pub(super) fn after_retry_after(interval: Duration, retry_after: Duration) -> Duration {
    retry_after.min(MAX_RETRY_AFTER).max(interval)
}

#[cfg(test)]
mod tests;
