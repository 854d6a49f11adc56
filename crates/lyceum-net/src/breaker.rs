//! A circuit breaker: skips a server that keeps failing, so that not every caller has to wait for its timeout.

use std::time::Duration;

use tokio::time::Instant;

/// A circuit breaker for one server.
#[derive(Debug, Clone)]
pub struct CircuitBreaker {
    /// Number of consecutive failures that open the circuit.
    threshold: u32,
    /// How long the circuit stays open before one trial call is allowed.
    pause: Duration,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Calls are allowed; `failures` is the number of consecutive failures.
    Closed { failures: u32 },
    /// No call is allowed before `until`.
    Open { until: Instant },
}

/// A state change worth logging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// A call failed after a successful one.
    FirstFailure,
    /// The circuit opened.
    Opened,
    /// Calls succeed again.
    Recovered,
}

impl CircuitBreaker {
    /// Creates a closed circuit that opens for `pause` after `threshold` consecutive failures.
    pub fn new(threshold: u32, pause: Duration) -> Self {
        Self { threshold, pause, state: State::Closed { failures: 0 } }
    }

    /// Whether a call may be made now. After the pause, one trial call is allowed; other calls are rejected until
    /// it completes.
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

    /// Records a successful call.
    pub fn succeeded(&mut self) -> Option<Transition> {
        let before = std::mem::replace(&mut self.state, State::Closed { failures: 0 });
        (before != self.state).then_some(Transition::Recovered)
    }

    /// Records a failed call.
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
        // Calls already in flight fail too.
        assert_eq!(breaker.failed(start), None);
        assert!(!breaker.allows(start + PAUSE - Duration::from_millis(1)));

        let after = start + PAUSE;
        assert!(breaker.allows(after));
        assert!(!breaker.allows(after), "only one trial call at a time");
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
