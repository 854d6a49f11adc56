//! Exponential backoff: the delay after each consecutive failure.
//!
//! A pure function of the failure count, so callers can keep the count in a database, or wait for something else
//! at the same time.

use std::time::Duration;

/// A delay that doubles with each failure, up to a maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Delay after the first failure.
    pub first: Duration,
    /// Maximum delay.
    pub max: Duration,
}

impl Backoff {
    /// Returns the delay after `failures` consecutive failures; zero if there is none.
    pub fn after(self, failures: u32) -> Duration {
        let Some(doublings) = failures.checked_sub(1) else { return Duration::ZERO };
        self.first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.max)
    }
}

/// Adds up to 25% jitter, so that clients of a server that recovers don't all reconnect at once. `random` is a
/// random byte.
pub fn with_jitter(wait: Duration, random: u8) -> Duration {
    wait + wait / 4 * u32::from(random) / 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_wait_up_to_the_longest() {
        let backoff = Backoff { first: Duration::from_millis(400), max: Duration::from_secs(10) };
        let waits: Vec<u128> = (0..8).map(|failures| backoff.after(failures).as_millis()).collect();
        assert_eq!(waits, [0, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
        assert_eq!(backoff.after(u32::MAX), backoff.max);
    }

    #[test]
    fn chance_adds_a_quarter_at_most() {
        let wait = Duration::from_secs(60);
        assert_eq!(with_jitter(wait, 0), wait);
        assert_eq!(with_jitter(wait, 255), Duration::from_secs(75));
    }
}
