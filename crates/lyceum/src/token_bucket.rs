//! A token bucket: a burst, and then one token per interval.
//!
//! Not from a crate, because callers can wait for a token with a limit, and return one that they did not use.

use std::time::{Duration, Instant};

/// The refill rate of a bucket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    /// Capacity of the bucket.
    pub(crate) burst: u32,
    /// Time to refill one token.
    pub(crate) every: Duration,
}

/// A token bucket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenBucket {
    /// When it is full again.
    full_at: Instant,
}

impl TokenBucket {
    /// Creates a full bucket.
    pub(crate) fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes a token, and returns how long to wait for it. If that is longer than `max_wait`, takes none and returns
    /// the wait as error.
    pub(crate) fn take(
        &mut self,
        rate: Rate,
        now: Instant,
        max_wait: Duration,
    ) -> Result<Duration, Duration> {
        let full_at = self.full_at.max(now) + rate.every;
        let wait = full_at.saturating_duration_since(now + rate.every * rate.burst);
        if wait > max_wait {
            return Err(wait);
        }
        self.full_at = full_at;
        Ok(wait)
    }

    /// Returns a token that was not used.
    pub(crate) fn refund(&mut self, rate: Rate) {
        self.full_at = self.full_at.checked_sub(rate.every).unwrap_or(self.full_at);
    }

    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.full_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 3, every: Duration::from_secs(1) };

    #[test]
    fn a_bucket_gives_its_burst_at_once_and_then_one_each_interval() {
        let now = Instant::now();
        let mut bucket = TokenBucket::new(now);
        for _ in 0..3 {
            assert_eq!(bucket.take(RATE, now, Duration::ZERO), Ok(Duration::ZERO));
        }
        assert_eq!(bucket.take(RATE, now, Duration::ZERO), Err(RATE.every));
        assert_eq!(bucket.take(RATE, now + RATE.every, Duration::ZERO), Ok(Duration::ZERO));
        assert!(!bucket.is_full(now + RATE.every * 3) && bucket.is_full(now + RATE.every * 4));
    }

    #[test]
    fn who_waits_takes_a_token_of_later_and_who_gives_one_back_lets_another_have_it() {
        let now = Instant::now();
        let mut bucket = TokenBucket::new(now);
        let waits: Vec<_> = (0..5).map(|_| bucket.take(RATE, now, RATE.every)).collect();
        let (none, second) = (Duration::ZERO, RATE.every);
        assert_eq!(waits, [Ok(none), Ok(none), Ok(none), Ok(second), Err(second * 2)]);
        bucket.refund(RATE);
        assert_eq!(bucket.take(RATE, now, RATE.every), Ok(second));
    }
}
