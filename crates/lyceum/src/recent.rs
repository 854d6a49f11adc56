//! A cache for one value, refreshed at most once a second.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// Maximum age of a value.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The latest value, with its time and key.
#[derive(Debug)]
pub(crate) struct Recent<K, V>(Mutex<Option<(Instant, K, V)>>);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// Returns the cached value for that key, or computes it. Concurrent callers wait for the same computation, so it
    /// needs a timeout of its own.
    pub(crate) async fn get(&self, key: K, read: impl Future<Output = V>) -> V {
        let mut cached = self.0.lock().await;
        if let Some((at, cached_key, value)) = cached.as_ref()
            && at.elapsed() < MAX_AGE
            && *cached_key == key
        {
            return value.clone();
        }
        let value = read.await;
        *cached = Some((Instant::now(), key, value.clone()));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_value_is_read_once_for_each_key() {
        let recent = Recent::default();
        assert_eq!(recent.get("a", async { 1 }).await, 1);
        assert_eq!(recent.get("a", async { 2 }).await, 1);
        assert_eq!(recent.get("b", async { 3 }).await, 3);
    }
}
