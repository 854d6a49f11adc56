//! Stopping in good order: from the first moment no new work is taken, and what is under way is waited for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Whether the server is about to stop, and how many requests are under way.
#[derive(Debug, Default)]
pub(crate) struct Drain {
    draining: AtomicBool,
    in_flight: AtomicUsize,
    last_left: Notify,
}

impl Drain {
    /// From now on no new work is taken.
    pub(crate) fn begin(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    /// Whether the server is about to stop.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// A request has come; whoever says so must also say when it is over.
    pub(crate) fn enter(&self) {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
    }

    /// A request is over.
    pub(crate) fn leave(&self) {
        if self.in_flight.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.last_left.notify_waiters();
        }
    }

    /// Waits until nothing is under way.
    pub(crate) async fn finished(&self) {
        loop {
            // Registered before the look, so that a leave between the two is not missed.
            let left = self.last_left.notified();
            if self.in_flight.load(Ordering::SeqCst) == 0 {
                return;
            }
            left.await;
        }
    }
}
