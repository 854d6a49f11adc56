//! Exponential back-off: how long to wait after each failure in a row.
//!
//! A pure function of the number of failures, so that it also serves those who keep that number in a database, or wait
//! for something else at the same time.

use std::time::Duration;

/// Waits that double from the first to the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure.
    pub first: Duration,
    /// The longest wait.
    pub max: Duration,
}

impl Backoff {
    /// The wait after so many failures in a row; none after no failure.
    pub fn after(self, failures: u32) -> Duration {
        let Some(doublings) = failures.checked_sub(1) else { return Duration::ZERO };
        self.first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.max)
    }
}

/// A wait made up to a quarter longer by chance, from 0 to 255, so that many clients of a server that was away don't come
/// back all at once.
pub fn with_jitter(wait: Duration, chance: u8) -> Duration {
    wait + wait / 4 * u32::from(chance) / 255
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
