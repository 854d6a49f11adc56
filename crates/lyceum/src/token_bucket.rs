//! A token bucket: so many at once, and one more each time an interval has passed.
//!
//! Ours and not a crate's, for a caller can wait for a token within a limit, and give back one that it did not use.

use std::time::{Duration, Instant};

/// How fast a bucket fills.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    /// How many tokens a full bucket holds.
    pub(crate) burst: u32,
    /// How long it takes until there is one more.
    pub(crate) every: Duration,
}

/// What was taken of a rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenBucket {
    /// When it is full again.
    full_at: Instant,
}

impl TokenBucket {
    /// A full one.
    pub(crate) fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes one, and says how long to wait for it; where that is longer than `max_wait`, nothing is taken, and it is an
    /// error.
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

    /// Gives back one that was taken and not used.
    pub(crate) fn give_back(&mut self, rate: Rate) {
        self.full_at = self.full_at.checked_sub(rate.every).unwrap_or(self.full_at);
    }

    /// Whether nothing is used up.
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
        bucket.give_back(RATE);
        assert_eq!(bucket.take(RATE, now, RATE.every), Ok(second));
    }
}
