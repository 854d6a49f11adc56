//! A value that is read at most once a second, however many ask for it.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

/// How old a value may be.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The value of a moment ago, and what it was read for.
#[derive(Debug)]
pub(crate) struct Recent<K, V>(Mutex<Option<(Instant, K, V)>>);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// The value for that key, read now unless that was done within the last second. Whoever asks meanwhile waits for the one
    /// answer, so that reading needs a limit of its own.
    pub(crate) async fn get(&self, key: K, read: impl Future<Output = V>) -> V {
        let mut kept = self.0.lock().await;
        if let Some((at, of, value)) = kept.as_ref()
            && at.elapsed() < MAX_AGE
            && *of == key
        {
            return value.clone();
        }
        let value = read.await;
        *kept = Some((Instant::now(), key, value.clone()));
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
