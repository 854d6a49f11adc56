//! How long to wait before the next round: pure arithmetic.

use std::time::Duration;

/// The longest that failures make us wait, unless the endpoint asks for more.
const LONGEST: Duration = Duration::from_secs(600);

/// The longest that the endpoint can make us wait.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);

/// The wait after so many failures in a row: twice as long each time, and up to a quarter more by chance, so that many
/// clients of an endpoint that was away don't come back all at once.
pub(super) fn after_failures(every: Duration, failures: u32, chance: u8) -> Duration {
    let doubled = every.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST).max(every);
    doubled + doubled / 4 * u32::from(chance) / 255
}

/// The wait that the endpoint asked for, within reason.
pub(super) fn as_asked(every: Duration, retry_after: Duration) -> Duration {
    retry_after.min(LONGEST_ASKED).max(every)
}

#[cfg(test)]
mod tests;
