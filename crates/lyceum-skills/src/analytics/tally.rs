//! Counters of events since the start of this process.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the events tracked by this process, and of those it published (its own and those of other processes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Events stored.
    pub recorded: u64,
    /// Events rejected because the buffer is full.
    pub refused: u64,
    /// Events that could not be stored, for example because the disk is full.
    pub failed: u64,
    /// Events accepted by the endpoint.
    pub published: u64,
    /// Incomplete lines that were set aside.
    pub torn: u64,
}

/// A monotonic counter.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The live counters.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) recorded: Count,
    pub(super) refused: Count,
    pub(super) failed: Count,
    pub(super) published: Count,
    pub(super) torn: Count,
}

impl Tally {
    pub(super) fn counters(&self) -> Counters {
        Counters {
            recorded: self.recorded.get(),
            refused: self.refused.get(),
            failed: self.failed.get(),
            published: self.published.get(),
            torn: self.torn.get(),
        }
    }
}
