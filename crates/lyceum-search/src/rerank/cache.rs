//! Scores are kept for an hour. Keeping them never delays an answer, and losing them only costs a request.

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

const SCORES: Namespace = Namespace { name: "rerank", seconds: Some(3_600) };

/// How many scores may wait to be kept; what comes beyond that is not.
const QUEUE_CAPACITY: usize = 64;

/// How often what is past its hour is taken away, at most.
const SWEEP_INTERVAL_MS: i64 = 10 * 60 * 1_000;

/// How long the end waits for what is being kept.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The scores that are kept.
#[derive(Debug)]
pub(super) struct Cache {
    db: Db,
    writes: TaskTracker,
    room: Arc<Semaphore>,
    swept: Arc<AtomicI64>,
}

impl Cache {
    pub(super) fn new(db: Db) -> Self {
        let room = Arc::new(Semaphore::new(QUEUE_CAPACITY));
        Self { db, writes: TaskTracker::new(), room, swept: Arc::default() }
    }

    /// The scores under a key, if they are found within this time and as many as they should be.
    pub(super) async fn get(
        &self,
        key: &str,
        count: usize,
        now: Timestamp,
        limit: Duration,
    ) -> Option<Vec<f32>> {
        let key = key.to_owned();
        let look = self.db.read(move |tx| SCORES.get(tx, &key, now));
        let bytes = match tokio::time::timeout(limit, look).await {
            Ok(Ok(bytes)) => bytes?,
            Ok(Err(error)) => {
                tracing::debug!(error.cause = %error, "could not read cached rerank scores");
                return None;
            }
            Err(_) => return None,
        };
        scores(&bytes).filter(|scores| scores.len() == count)
    }

    /// Begins to keep scores under a key.
    pub(super) fn put(&self, key: String, scores: &[f32], now: Timestamp) {
        let Ok(permit) = self.room.clone().try_acquire_owned() else { return };
        let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
        let db = self.db.clone();
        let swept = self.swept.clone();
        self.writes.spawn(async move {
            let work = db.write(move |tx| {
                SCORES.put(tx, &key, &bytes, now)?;
                if is_due(&swept, now) {
                    kv::sweep(tx, now)?;
                }
                Ok(())
            });
            if let Err(error) = work.await {
                tracing::debug!(error.cause = %error, "could not cache rerank scores");
            }
            drop(permit);
        });
    }

    /// Waits for what is being kept.
    pub(super) async fn settle(&self) {
        self.writes.close();
        if tokio::time::timeout(FLUSH_TIMEOUT, self.writes.wait()).await.is_err() {
            tracing::debug!("caching rerank scores took too long");
        }
        self.writes.reopen();
    }
}

/// Whether it is time to sweep; says so to one caller only.
fn is_due(swept: &AtomicI64, now: Timestamp) -> bool {
    let last = swept.load(Ordering::Relaxed);
    let now = now.as_millisecond();
    now.saturating_sub(last) >= SWEEP_INTERVAL_MS
        && swept.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

fn scores(bytes: &[u8]) -> Option<Vec<f32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    let scores: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    (rest.is_empty() && scores.iter().all(|score| score.is_finite())).then_some(scores)
}

/// What scores depend on, as one name. Each part has its length before it, so that no two lists of parts are one name.
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
