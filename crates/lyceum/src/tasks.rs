//! Starts all background tasks, so that shutdown can wait for them.

use std::{future::Future, time::Duration};

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

/// The background tasks of this process. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Starts a task that is cancelled at shutdown.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            tokio::select! {
                () = work => {}
                () = stop.cancelled() => {}
            }
        });
    }

    /// Starts a task that ends by itself or when `stopping` is cancelled; shutdown waits for it. It runs in the
    /// current span.
    pub(crate) fn spawn_to_its_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tracker.spawn(work.in_current_span())
    }

    /// Is cancelled at shutdown.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Cancels all tasks and waits for them.
    pub(crate) async fn finish(&self, limit: Duration) {
        self.stop.cancel();
        self.tracker.close();
        if tokio::time::timeout(limit, self.tracker.wait()).await.is_err() {
            tracing::warn!("background tasks did not end within the shutdown timeout");
        }
    }
}
