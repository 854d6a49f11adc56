//! How long to wait before the next round: pure arithmetic.

use std::time::Duration;

use lyceum_net::{Backoff, with_jitter};

/// The longest that failures make us wait, unless the endpoint asks for more.
const MAX_BACKOFF: Duration = Duration::from_secs(600);

/// The longest that the endpoint can make us wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// The wait after so many failures in a row: twice as long each time, and somewhat more by chance.
pub(super) fn after_failures(every: Duration, failures: u32, chance: u8) -> Duration {
    let backoff = Backoff { first: every, max: MAX_BACKOFF.max(every) };
    with_jitter(backoff.after(failures.saturating_add(1)), chance)
}

/// The wait that the endpoint asked for, within reason.
pub(super) fn after_retry_after(every: Duration, retry_after: Duration) -> Duration {
    retry_after.min(MAX_RETRY_AFTER).max(every)
}

#[cfg(test)]
mod tests;
