//! Whether the server answers: once work has failed for want of an answer, further work fails at once, except for one
//! attempt a second, until one succeeds.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{DbError, DriverError};

/// Pause between attempts while the server does not answer.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Whether the server answers.
#[derive(Debug, Default)]
pub(crate) struct Availability {
    /// When the next attempt may be made; `None` if the server answers.
    next_probe: Mutex<Option<Instant>>,
}

/// An attempt that may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The server answers, as far as is known.
    Normal,
    /// It did not answer; this attempt finds out whether it does now.
    Probe,
}

impl Attempt {
    /// Whether it is made to find out whether the server answers again.
    pub(crate) fn is_probe(self) -> bool {
        self == Self::Probe
    }
}

impl Availability {
    /// Whether an attempt may be made now.
    pub(crate) fn check(&self) -> Result<Attempt, DbError> {
        let mut next = self.next_probe();
        let Some(at) = *next else { return Ok(Attempt::Normal) };
        let now = Instant::now();
        if now < at {
            return Err(DbError::Unavailable(DriverError::text("it did not answer a moment ago")));
        }
        *next = Some(now + PROBE_INTERVAL);
        Ok(Attempt::Probe)
    }

    /// Notes the outcome of an attempt.
    pub(crate) fn record<T>(&self, outcome: &Result<T, DbError>) {
        match outcome {
            Err(DbError::Unavailable(_) | DbError::Unknown) => self.failed(),
            Ok(_) | Err(_) => *self.next_probe() = None,
        }
    }

    /// Notes that an attempt got no answer in time.
    pub(crate) fn failed(&self) {
        *self.next_probe() = Some(Instant::now() + PROBE_INTERVAL);
    }

    fn next_probe(&self) -> MutexGuard<'_, Option<Instant>> {
        self.next_probe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_failure_work_fails_at_once_until_an_attempt_succeeds() {
        let availability = Availability::default();
        assert_eq!(availability.check().unwrap(), Attempt::Normal);
        availability.failed();
        assert!(matches!(availability.check(), Err(DbError::Unavailable(_))));
        *availability.next_probe() = Some(Instant::now());
        assert_eq!(availability.check().unwrap(), Attempt::Probe);
        // One attempt at a time.
        assert!(availability.check().is_err());
        availability.record(&Ok(()));
        assert_eq!(availability.check().unwrap(), Attempt::Normal);
    }
}
