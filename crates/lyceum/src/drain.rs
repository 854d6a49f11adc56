//! Stopping in good order: from the first moment no new work is taken, and what is under way is waited for.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::sync::Notify;

/// Whether the server is about to stop, and how many requests are under way. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drain(Arc<State>);

#[derive(Debug, Default)]
struct State {
    draining: AtomicBool,
    in_flight: AtomicUsize,
    last_left: Notify,
}

/// A request under way; dropping it ends it.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<State>);

impl Drain {
    pub(crate) fn begin(&self) {
        self.0.draining.store(true, Ordering::SeqCst);
    }

    /// Whether the server is about to stop.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.draining.load(Ordering::SeqCst)
    }

    pub(crate) fn enter(&self) -> InFlight {
        self.0.in_flight.fetch_add(1, Ordering::SeqCst);
        InFlight(self.0.clone())
    }

    /// Waits until nothing is under way.
    pub(crate) async fn finished(&self) {
        loop {
            // Registered before the look, so that a leave between the two is not missed.
            let left = self.0.last_left.notified();
            if self.0.in_flight.load(Ordering::SeqCst) == 0 {
                return;
            }
            left.await;
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.last_left.notify_waiters();
        }
    }
}
