//! A circuit breaker: a server that keeps failing is left alone for a while, so that it does not cost each caller its
//! whole time-out.

use std::time::Duration;

use tokio::time::Instant;

/// When a server is left alone.
#[derive(Debug, Clone)]
pub struct CircuitBreaker {
    /// How many failures in a row open the circuit.
    threshold: u32,
    /// How long it stays open before one caller tries again.
    pause: Duration,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Callers pass; so many calls failed in a row.
    Closed { failures: u32 },
    /// Nobody passes until then.
    Open { until: Instant },
}

/// A change that is worth a line in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The first call failed after one that did not.
    FirstFailure,
    /// The circuit is open from now on.
    Opened,
    /// Calls succeed again.
    Recovered,
}

impl CircuitBreaker {
    /// A closed circuit that so many failures in a row open, for so long.
    pub fn new(threshold: u32, pause: Duration) -> Self {
        Self { threshold, pause, state: State::Closed { failures: 0 } }
    }

    /// Whether a call may be made now. When the pause is over, one caller tries, and the others are refused until that
    /// one knows.
    pub fn allows(&mut self, now: Instant) -> bool {
        match &mut self.state {
            State::Closed { .. } => true,
            State::Open { until } if now < *until => false,
            State::Open { until } => {
                *until = now + self.pause;
                true
            }
        }
    }

    /// Takes note of a call that succeeded.
    pub fn succeeded(&mut self) -> Option<Transition> {
        let before = std::mem::replace(&mut self.state, State::Closed { failures: 0 });
        (before != self.state).then_some(Transition::Recovered)
    }

    /// Takes note of a call that failed.
    pub fn failed(&mut self, now: Instant) -> Option<Transition> {
        let open = State::Open { until: now + self.pause };
        let State::Closed { failures } = self.state else {
            self.state = open;
            return None;
        };
        let failures = failures.saturating_add(1);
        if failures >= self.threshold {
            self.state = open;
            return Some(Transition::Opened);
        }
        self.state = State::Closed { failures };
        (failures == 1).then_some(Transition::FirstFailure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    #[test]
    fn one_caller_tries_after_the_pause_and_only_changes_are_told() {
        let start = Instant::now();
        let mut breaker = CircuitBreaker::new(3, PAUSE);
        assert_eq!(breaker.succeeded(), None);
        assert_eq!(breaker.failed(start), Some(Transition::FirstFailure));
        assert_eq!(breaker.failed(start), None);
        assert_eq!(breaker.failed(start), Some(Transition::Opened));
        // Calls that were under way already fail too.
        assert_eq!(breaker.failed(start), None);
        assert!(!breaker.allows(start + PAUSE - Duration::from_millis(1)));

        let after = start + PAUSE;
        assert!(breaker.allows(after));
        assert!(!breaker.allows(after), "the second does not try at the same time");
        assert_eq!(breaker.failed(after), None);
        assert!(!breaker.allows(after + Duration::from_secs(29)));

        let again = after + PAUSE;
        assert!(breaker.allows(again));
        assert_eq!(breaker.succeeded(), Some(Transition::Recovered));
        assert!(breaker.allows(again) && breaker.allows(again));
        assert_eq!(breaker.failed(again), Some(Transition::FirstFailure));
        assert_eq!(breaker.succeeded(), Some(Transition::Recovered));
    }
}
