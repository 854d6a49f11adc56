//! When something that failed is tried again: soon at first, then less and less often.

use std::time::{Duration, Instant};

use lyceum_net::Backoff;

/// How long after a failure it is tried again.
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(400), max: Duration::from_secs(10) };

/// When it is tried again.
#[derive(Debug, Default)]
pub(super) struct RetryState {
    /// How often it failed in a row.
    failures: u32,
    /// Until when it is left alone.
    until: Option<Instant>,
}

impl RetryState {
    /// Whether it may be tried now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    /// Takes note of a failure, and says whether it is the first in a row.
    pub(super) fn failed(&mut self, now: Instant) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.until = Some(now + BACKOFF.after(self.failures));
        self.failures == 1
    }

    /// Takes note that it went well.
    pub(super) fn went_well(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests;
