//! When a model is left alone: one that does not answer must not cost each search all the time it may take.

use std::time::Duration;

use lyceum_net::{CircuitBreaker, Transition};

/// So many failures in a row, and it is left alone.
const MAX_FAILURES: u32 = 3;

/// For so long.
pub(crate) const OPEN_TIME: Duration = Duration::from_secs(30);

/// The circuit breaker of one model.
pub(crate) fn breaker() -> CircuitBreaker {
    CircuitBreaker::new(MAX_FAILURES, OPEN_TIME)
}

/// Tells the log what is new of such a model.
pub(crate) fn report(news: Option<Transition>, what: &str, error: Option<&dyn std::error::Error>) {
    let cause = error.map(ToString::to_string).unwrap_or_default();
    match news {
        Some(Transition::FirstFailure) => {
            tracing::warn!(error.cause = %cause, "{what} failed; answers do without it");
        }
        Some(Transition::Opened) => {
            tracing::warn!(
                error.cause = %cause,
                pause_s = OPEN_TIME.as_secs(),
                "{what} keeps failing and is left alone for a while, again and again until it answers"
            );
        }
        Some(Transition::Recovered) => tracing::info!("{what} answers again"),
        None => {}
    }
}
