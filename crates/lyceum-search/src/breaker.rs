//! Circuit breaker for models, so that a failing model does not cost every search its full timeout.

use std::time::Duration;

use lyceum_net::{CircuitBreaker, Transition};

/// Consecutive failures that open the breaker.
const MAX_FAILURES: u32 = 3;

/// How long the breaker stays open before the next attempt.
pub(crate) const OPEN_TIME: Duration = Duration::from_secs(30);

/// Builds the circuit breaker of one model.
pub(crate) fn breaker() -> CircuitBreaker {
    CircuitBreaker::new(MAX_FAILURES, OPEN_TIME)
}

/// Logs a state transition of a model's breaker.
pub(crate) fn report(transition: Option<Transition>, label: &str, error: Option<&dyn std::error::Error>) {
    let cause = error.map(ToString::to_string).unwrap_or_default();
    match transition {
        Some(Transition::FirstFailure) => {
            tracing::warn!(error.cause = %cause, "{label} failed; results are returned without it");
        }
        Some(Transition::Opened) => {
            tracing::warn!(
                error.cause = %cause,
                pause_s = OPEN_TIME.as_secs(),
                "{label} keeps failing; circuit breaker open, retrying after a pause"
            );
        }
        Some(Transition::Recovered) => tracing::info!("{label} recovered"),
        None => {}
    }
}
