//! Every background task is started here, so that the end can wait for all of them.

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
    /// Starts a task that ends with the server at the latest.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            tokio::select! {
                () = work => {}
                () = stop.cancelled() => {}
            }
        });
    }

    /// Starts a task that ends by itself, soon or when it is told to stop; the end waits for it. Its log lines belong to the request that started it.
    pub(crate) fn spawn_to_its_end(&self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.tracker.spawn(work.in_current_span())
    }

    /// Is cancelled when the server is told to stop.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Ends every task and waits for it.
    pub(crate) async fn finish(&self, limit: Duration) {
        self.stop.cancel();
        self.tracker.close();
        if tokio::time::timeout(limit, self.tracker.wait()).await.is_err() {
            tracing::warn!("background tasks did not end in time");
        }
    }
}
