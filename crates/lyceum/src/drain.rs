//! Graceful shutdown: no new requests are accepted, and in-flight requests are waited for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Whether the server is shutting down, and the number of in-flight requests.
#[derive(Debug, Default)]
pub(crate) struct Drain {
    draining: AtomicBool,
    in_flight: AtomicUsize,
    /// Whether somebody waits for the last request: notifying takes a lock, and most requests are the last one.
    is_awaited: AtomicBool,
    last_left: Notify,
}

impl Drain {
    /// Starts to reject new requests.
    pub(crate) fn begin(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    /// Whether the server is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// Counts a new request. Each call needs a matching [`leave`](Self::leave).
    pub(crate) fn enter(&self) {
        self.in_flight.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts the end of a request.
    pub(crate) fn leave(&self) {
        if self.in_flight.fetch_sub(1, Ordering::SeqCst) == 1 && self.is_awaited.load(Ordering::SeqCst) {
            self.last_left.notify_waiters();
        }
    }

    /// Waits until there are no in-flight requests.
    pub(crate) async fn finished(&self) {
        self.is_awaited.store(true, Ordering::SeqCst);
        loop {
            // Registered before the check, so that a request that ends in between is not missed.
            let left = self.last_left.notified();
            if self.in_flight.load(Ordering::SeqCst) == 0 {
                return;
            }
            left.await;
        }
    }
}
