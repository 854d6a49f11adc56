//! The loop that publishes, from the start of the process to its end.

use std::{future::Future, pin::pin, time::Duration};

use tokio::time::{Instant, sleep_until, timeout_at};

use super::{endpoint::Endpoint, publisher::Publisher, tracker::Tracker};

/// The most that a process waits after its start when there are events of an earlier one.
const MAX_FIRST_DELAY: Duration = Duration::from_secs(1);

/// How often events are sent, and how long that may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// From one round to the next. Failures make it longer.
    pub every: Duration,
    /// How long the endpoint may take to answer.
    pub timeout: Duration,
    /// How long the end of the process may be held up.
    pub at_stop: Duration,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
            at_stop: Duration::from_secs(2),
        }
    }
}

/// Sends what the tracker writes down, until `stop` is ready; then tries once more, within `pace.at_stop`.
///
/// It may be dropped at any point: what is not delivered is sent by the next process, or by another one that runs now.
pub async fn publish(
    tracker: Tracker,
    endpoint: Endpoint,
    schedule: Schedule,
    stop: impl Future<Output = ()>,
) {
    let Some(open) = tracker.open() else { return };
    let mut publisher = Publisher::new(open.clone(), endpoint, schedule);
    let mut stop = pin!(stop);
    // What is left by an earlier process does not wait for a whole round; looking costs as little as sending nothing.
    let mut wait = schedule.every.min(MAX_FIRST_DELAY);
    let end = loop {
        tokio::select! {
            biased;
            () = &mut stop => break Instant::now() + schedule.at_stop,
            () = sleep_until(Instant::now() + wait) => {}
        }
        let mut round = pin!(publisher.round());
        tokio::select! {
            biased;
            next = &mut round => wait = next,
            () = &mut stop => {
                // A request that is out is not sent anew beside itself: its answer is waited for.
                let end = Instant::now() + schedule.at_stop;
                match timeout_at(end, round).await {
                    Ok(_) => break end,
                    Err(_) => return,
                }
            }
        }
    };
    last_round(publisher, end).await;
}

/// What does not make it stays on the disk.
async fn last_round(mut publisher: Publisher, end: Instant) {
    if !publisher.must_be_quiet() {
        let _what_is_left_is_kept = timeout_at(end, publisher.round()).await;
    }
}
