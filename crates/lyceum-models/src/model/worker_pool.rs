//! Threads that run a model, one text at a time each. Questions have their own, so that they never wait for passages,
//! and those of passages step back when the machine has something else to do.

use std::sync::{Arc, Mutex, PoisonError};

use rten::ThreadPool;
use tokio::sync::Semaphore;

/// How far the threads of background work step back: a question beside them gets nine parts of ten.
#[cfg(target_os = "linux")]
const BACKGROUND_NICE: i32 = 10;

/// A set of threads and the queue for them. Whoever waits is served in order.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    places: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Arc<ThreadPool>>>>,
}

/// How urgent the work of some lanes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Somebody waits.
    Now,
    /// Nobody does: other threads go first.
    Background,
}

impl WorkerPool {
    /// So many threads, at least one.
    pub(crate) fn new(threads: usize, urgency: Urgency) -> Self {
        let threads = threads.max(1);
        let lanes = (0..threads).map(|_| Arc::new(lane(urgency))).collect();
        Self { places: Arc::new(Semaphore::new(threads)), idle: Arc::new(Mutex::new(lanes)) }
    }

    /// Runs `work` on the next free lane. Dropping the future gives its turn up; what runs already is finished.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<ThreadPool>) -> T + Send + 'static,
    ) -> Option<T> {
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let idle = Arc::clone(&self.idle);
        let done = tokio::task::spawn_blocking(move || {
            let lane = idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            // On the lane's own thread from the first letter on, so that no other thread's memory grows by it.
            let done = lane.run(|| work(&lane));
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
            drop(place);
            Some(done)
        });
        done.await.ok().flatten()
    }
}

fn lane(urgency: Urgency) -> ThreadPool {
    let lane = ThreadPool::with_num_threads(1);
    if urgency == Urgency::Background {
        lane.run(step_back);
    }
    lane
}

/// On Linux a priority belongs to a thread, so only this one steps back. Elsewhere it would be the whole process.
#[cfg(target_os = "linux")]
fn step_back() {
    if let Err(fault) = rustix::process::nice(BACKGROUND_NICE) {
        tracing::debug!(%fault, "a thread for background work keeps its priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn step_back() {}
