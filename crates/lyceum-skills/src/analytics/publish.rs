//! The publishing loop, from start to shutdown.

use std::{future::Future, pin::pin, time::Duration};

use tokio::time::{Instant, sleep_until, timeout_at};

use super::{endpoint::Endpoint, publisher::Publisher, tracker::Tracker};

/// Maximum delay of the first round after start, for events of an earlier process.
const MAX_FIRST_DELAY: Duration = Duration::from_secs(1);

/// Interval and timeouts of publishing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// Interval between rounds; failures back off from it.
    pub interval: Duration,
    /// Timeout of a request.
    pub timeout: Duration,
    /// How long shutdown may be delayed.
    pub shutdown_timeout: Duration,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
            shutdown_timeout: Duration::from_secs(2),
        }
    }
}

/// Publishes tracked events until `stop` is ready; then tries once more, within `schedule.shutdown_timeout`.
///
/// Cancel-safe: undelivered events are sent by the next process, or by another running one.
pub async fn publish(
    tracker: Tracker,
    endpoint: Endpoint,
    schedule: Schedule,
    stop: impl Future<Output = ()>,
) {
    let Some(open) = tracker.open() else { return };
    let mut publisher = Publisher::new(open.clone(), endpoint, schedule);
    let mut stop = pin!(stop);
    // Don't make events of an earlier process wait for a whole interval; an empty round is cheap.
    let mut wait = schedule.interval.min(MAX_FIRST_DELAY);
    let end = loop {
        tokio::select! {
            biased;
            () = &mut stop => break Instant::now() + schedule.shutdown_timeout,
            () = sleep_until(Instant::now() + wait) => {}
        }
        let mut round = pin!(publisher.round());
        tokio::select! {
            biased;
            next = &mut round => wait = next,
            () = &mut stop => {
                // Wait for the request in flight instead of sending the batch twice.
                let end = Instant::now() + schedule.shutdown_timeout;
                match timeout_at(end, round).await {
                    Ok(_) => break end,
                    Err(_) => return,
                }
            }
        }
    };
    last_round(publisher, end).await;
}

/// Runs a final round; undelivered events stay on disk.
async fn last_round(mut publisher: Publisher, end: Instant) {
    if !publisher.is_paused() {
        let _rest_stays_on_disk = timeout_at(end, publisher.round()).await;
    }
}
