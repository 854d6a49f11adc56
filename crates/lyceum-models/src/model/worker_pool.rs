//! A pool of inference threads, one text at a time each. Queries have their own pool, so that they never wait for
//! passages; passage threads run at low priority.

use std::sync::{Arc, Mutex, PoisonError};

use rten::ThreadPool;
use tokio::sync::Semaphore;

/// Niceness of background threads: a query next to them gets nine tenths of the CPU.
#[cfg(target_os = "linux")]
const BACKGROUND_NICE: i32 = 10;

/// A set of threads with a FIFO queue.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Arc<ThreadPool>>>>,
}

/// Priority of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Latency matters: a caller waits.
    Interactive,
    /// Yields to other threads.
    Background,
}

impl WorkerPool {
    /// Starts the threads, at least one.
    pub(crate) fn new(threads: usize, priority: Priority) -> Self {
        let threads = threads.max(1);
        let workers = (0..threads).map(|_| Arc::new(worker(priority))).collect();
        Self { permits: Arc::new(Semaphore::new(threads)), idle: Arc::new(Mutex::new(workers)) }
    }

    /// Runs `work` on the next free thread. Dropping the future cancels it while it is queued, not once it runs.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<ThreadPool>) -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        let idle = Arc::clone(&self.idle);
        let done = tokio::task::spawn_blocking(move || {
            let worker = idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            // Tokenization runs on this thread, too, so that no other thread's memory grows.
            let done = worker.run(|| work(&worker));
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
            drop(permit);
            Some(done)
        });
        done.await.ok().flatten()
    }
}

fn worker(priority: Priority) -> ThreadPool {
    let worker = ThreadPool::with_num_threads(1);
    if priority == Priority::Background {
        worker.run(lower_priority);
    }
    worker
}

/// Lowers the priority of this thread. Linux only: elsewhere niceness applies to the whole process.
#[cfg(target_os = "linux")]
fn lower_priority() {
    if let Err(error) = rustix::process::nice(BACKGROUND_NICE) {
        tracing::debug!(%error, "could not lower the priority of a background thread");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}
