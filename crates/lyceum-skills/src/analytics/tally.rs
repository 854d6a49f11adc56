//! What became of events since this process started, as numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// What became of the events that this process tracked, and of those it published (its own and its neighbours').
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Events that were written down.
    pub recorded: u64,
    /// Events that were refused, because the buffer holds as much as it may.
    pub refused: u64,
    /// Events that could not be written down, for instance because the disk is full.
    pub failed: u64,
    /// Events that the endpoint took.
    pub published: u64,
    /// Unfinished lines that were set aside.
    pub torn: u64,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where the figures are counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) recorded: Count,
    pub(super) refused: Count,
    pub(super) failed: Count,
    pub(super) published: Count,
    pub(super) torn: Count,
}

impl Tally {
    pub(super) fn figures(&self) -> Figures {
        Figures {
            recorded: self.recorded.get(),
            refused: self.refused.get(),
            failed: self.failed.get(),
            published: self.published.get(),
            torn: self.torn.get(),
        }
    }
}
