//! Stopping in good order: from the first moment no new work is taken, and what is under way is waited for.

use std::sync::Arc;

use tokio::sync::watch;

/// Whether the server is about to stop, and how many requests are under way.
#[derive(Debug, Clone)]
pub(crate) struct Drain {
    draining: Arc<watch::Sender<bool>>,
    in_flight: Arc<watch::Sender<usize>>,
}

/// A request under way; dropping it ends it.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<watch::Sender<usize>>);

impl Drain {
    pub(crate) fn new() -> Self {
        Self { draining: Arc::new(watch::Sender::new(false)), in_flight: Arc::new(watch::Sender::new(0)) }
    }

    pub(crate) fn begin(&self) {
        self.draining.send_replace(true);
    }

    /// Whether the server is about to stop.
    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    pub(crate) fn enter(&self) -> InFlight {
        self.in_flight.send_modify(|count| *count += 1);
        InFlight(self.in_flight.clone())
    }

    /// Waits until nothing is under way.
    pub(crate) async fn finished(&self) {
        let mut count = self.in_flight.subscribe();
        // An error would say that the sender is gone, and this holds one.
        let _finished = count.wait_for(|count| *count == 0).await;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
