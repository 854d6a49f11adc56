//! When something that failed is tried again: soon at first, then less and less often.

use std::time::{Duration, Instant};

/// How long after a failure it is tried again, at first and at most.
const FIRST: Duration = Duration::from_millis(400);
const LONGEST: Duration = Duration::from_secs(10);

/// When it is tried again.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// How long it was waited last, and until when.
    pause: Option<(Duration, Instant)>,
}

impl Again {
    /// Whether it may be tried now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.pause.is_none_or(|(_, until)| now >= until)
    }

    /// Takes note of a failure, and says whether it is the first in a row.
    pub(super) fn failed(&mut self, now: Instant) -> bool {
        let pause = self.pause.map_or(FIRST, |(before, _)| (before * 2).min(LONGEST));
        self.pause.replace((pause, now + pause)).is_none()
    }

    /// Takes note that it went well.
    pub(super) fn went_well(&mut self) {
        self.pause = None;
    }
}

#[cfg(test)]
mod tests;
