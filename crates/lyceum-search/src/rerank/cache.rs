//! Cache of rerank scores with a TTL of one hour. Writes are asynchronous and may be dropped.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use lyceum_store::{
    Db,
    kv::{self, Namespace},
};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

const SCORES: Namespace = Namespace { name: "rerank", ttl_seconds: Some(3_600) };

/// Maximum number of pending writes; further ones are dropped.
const QUEUE_CAPACITY: usize = 64;

/// Minimum interval between deletions of expired entries.
const SWEEP_INTERVAL_MS: i64 = 10 * 60 * 1_000;

/// Timeout for pending writes at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The cache.
#[derive(Debug)]
pub(super) struct Cache {
    db: Db,
    writes: TaskTracker,
    queue_slots: Arc<Semaphore>,
    last_sweep: AtomicI64,
}

impl Cache {
    pub(super) fn new(db: Db) -> Self {
        let queue_slots = Arc::new(Semaphore::new(QUEUE_CAPACITY));
        Self { db, writes: TaskTracker::new(), queue_slots, last_sweep: AtomicI64::default() }
    }

    /// Reads the scores of a key, within `limit`; `None` unless there are exactly `count`.
    pub(super) async fn get(
        &self,
        key: &str,
        count: usize,
        now: Timestamp,
        limit: Duration,
    ) -> Option<Vec<f32>> {
        let key = key.to_owned();
        let read = self.db.read(move |tx| SCORES.get(tx, &key, now));
        let bytes = match tokio::time::timeout(limit, read).await {
            Ok(Ok(bytes)) => bytes?,
            Ok(Err(error)) => {
                tracing::debug!(error.cause = %error, "could not read cached rerank scores");
                return None;
            }
            Err(_) => return None,
        };
        scores(&bytes).filter(|scores| scores.len() == count)
    }

    /// Writes scores in the background.
    pub(super) fn put(&self, key: String, scores: &[f32], now: Timestamp) {
        let Ok(permit) = self.queue_slots.clone().try_acquire_owned() else { return };
        let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
        let db = self.db.clone();
        let is_due = is_due(&self.last_sweep, now);
        self.writes.spawn(async move {
            let work = db.write(SCORES.name, move |tx| {
                SCORES.put(tx, &key, &bytes, now)?;
                if is_due { kv::sweep(tx, now).map(drop) } else { Ok(()) }
            });
            if let Err(error) = work.await {
                tracing::debug!(error.cause = %error, "could not cache rerank scores");
            }
            drop(permit);
        });
    }

    /// Waits for pending writes.
    pub(super) async fn flush(&self) {
        self.writes.close();
        if tokio::time::timeout(FLUSH_TIMEOUT, self.writes.wait()).await.is_err() {
            tracing::debug!("caching rerank scores took too long");
        }
        self.writes.reopen();
    }
}

/// Whether to delete expired entries now; true for one caller per interval.
fn is_due(last_sweep: &AtomicI64, now: Timestamp) -> bool {
    let last = last_sweep.load(Ordering::Relaxed);
    let now = now.as_millisecond();
    now.saturating_sub(last) >= SWEEP_INTERVAL_MS
        && last_sweep.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

fn scores(bytes: &[u8]) -> Option<Vec<f32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    let scores: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    (rest.is_empty() && scores.iter().all(|score| score.is_finite())).then_some(scores)
}

/// Cache key: a hash of reranker, query and passages. Each part is length-prefixed, so that different inputs never
/// collide by concatenation.
pub(super) fn key(reranker: &str, query: &str, passages: &[String]) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(reranker.as_bytes());
    part(query.as_bytes());
    passages.iter().for_each(|passage| part(passage.as_bytes()));
    const_hex::encode(hash.finalize())
}
