//! Single flight: concurrent requests for the same thing share one piece of work.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};

/// Work in progress, by key. The work ends early when everyone who waits for it is gone.
pub struct SingleFlight<K, V>(Arc<Inner<K, V>>);

struct Inner<K, V> {
    flights: Mutex<HashMap<K, (u64, Flight<V>)>>,
    next: AtomicU64,
}

type Flight<V> = WeakShared<BoxFuture<'static, V>>;

impl<K, V> Default for SingleFlight<K, V> {
    fn default() -> Self {
        Self(Arc::new(Inner { flights: Mutex::default(), next: AtomicU64::new(0) }))
    }
}

impl<K, V> SingleFlight<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Waits for the work of that key, and starts it if nobody has.
    pub async fn join<W>(&self, key: K, work: W) -> V
    where
        W: Future<Output = V> + Send + 'static,
    {
        self.flight(key, work).await
    }

    /// Whether somebody waits for the work of that key now.
    pub fn is_running(&self, key: &K) -> bool {
        self.0.flights().get(key).is_some_and(|(_, flight)| flight.upgrade().is_some())
    }

    fn flight<W>(&self, key: K, work: W) -> Shared<BoxFuture<'static, V>>
    where
        W: Future<Output = V> + Send + 'static,
    {
        let mut flights = self.0.flights();
        if let Some(running) = flights.get(&key).and_then(|(_, flight)| flight.upgrade()) {
            return running;
        }
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let landing = Landing { inner: self.0.clone(), key: key.clone(), id };
        let shared = async move {
            let _removed_at_the_end = landing;
            work.await
        }
        .boxed()
        .shared();
        // `None` only for a future that is complete already.
        if let Some(weak) = shared.downgrade() {
            flights.insert(key, (id, weak));
        }
        shared
    }
}

impl<K, V> fmt::Debug for SingleFlight<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SingleFlight").field(&self.0.flights().len()).finish()
    }
}

impl<K, V> Inner<K, V> {
    fn flights(&self) -> MutexGuard<'_, HashMap<K, (u64, Flight<V>)>> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a piece of work when it ends, or when nobody waits for it any more.
struct Landing<K: Eq + Hash, V> {
    inner: Arc<Inner<K, V>>,
    key: K,
    id: u64,
}

impl<K: Eq + Hash, V> Drop for Landing<K, V> {
    fn drop(&mut self) {
        let mut flights = self.inner.flights();
        // The next one may have started already.
        if flights.get(&self.key).is_some_and(|(id, _)| *id == self.id) {
            flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use futures::future::join_all;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_thousand_wait_for_one_piece_of_work() {
        let (flights, runs, go) = (SingleFlight::default(), Arc::new(AtomicUsize::new(0)), Notify::new());
        let go = Arc::new(go);
        let joined = (0..1_000).map(|_| {
            let (runs, go) = (runs.clone(), go.clone());
            flights.join("one", async move {
                go.notified().await;
                runs.fetch_add(1, Ordering::SeqCst)
            })
        });
        let (results, ()) = futures::join!(join_all(joined), async { go.notify_one() });
        assert!(results.iter().all(|result| *result == 0));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        assert!(flights.0.flights().is_empty());
        assert_eq!(flights.join("one", async { 7 }).await, 7, "what has ended is not served again");
    }

    #[tokio::test]
    async fn work_that_everyone_left_is_dropped_and_started_anew() {
        let flights: SingleFlight<&str, u8> = SingleFlight::default();
        {
            let mut left = Box::pin(flights.join("one", std::future::pending()));
            assert!(futures::poll!(&mut left).is_pending());
            assert!(flights.is_running(&"one") && !flights.is_running(&"two"));
        }
        assert!(!flights.is_running(&"one") && flights.0.flights().is_empty());
        assert_eq!(flights.join("one", async { 2 }).await, 2);
    }

    #[tokio::test]
    async fn different_keys_don_t_wait_for_each_other() {
        let flights: SingleFlight<u8, u8> = SingleFlight::default();
        let mut slow = Box::pin(flights.join(1, std::future::pending()));
        assert!(futures::poll!(&mut slow).is_pending());
        assert_eq!(flights.join(2, async { 2 }).await, 2);
    }
}
