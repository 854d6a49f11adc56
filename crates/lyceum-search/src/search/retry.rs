//! Retry with exponential back-off.

use std::time::{Duration, Instant};

use lyceum_net::Backoff;

/// Delays between attempts.
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(400), max: Duration::from_secs(10) };

/// When to retry.
#[derive(Debug, Default)]
pub(super) struct RetryState {
    /// Consecutive failures.
    failures: u32,
    /// Earliest time of the next attempt.
    next_attempt: Option<Instant>,
}

impl RetryState {
    /// Whether an attempt is due.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next_attempt.is_none_or(|next_attempt| now >= next_attempt)
    }

    /// Records a failure; returns whether it is the first in a row.
    pub(super) fn failed(&mut self, now: Instant) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.next_attempt = Some(now + BACKOFF.after(self.failures));
        self.failures == 1
    }

    /// Records a success.
    pub(super) fn succeeded(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests;
