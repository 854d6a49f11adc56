//! One round of publishing: pending batches, oldest first, then the buffer.
//!
//! A round ends at the first failure. The buffer is not turned into a batch while batches are pending, so an endpoint
//! that is down for days doesn't cause a file per interval.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use jiff::Timestamp;
use reqwest::Client;
use tokio::{task::spawn_blocking, time::Instant};
use tracing::Instrument;

use super::{
    batch,
    endpoint::Endpoint,
    id::Id,
    lock::Lock,
    post::{PostOutcome, post},
    publish::Schedule,
    tracker::Open,
    wait,
};

/// After this many consecutively rejected batches, no new ones are created until one is accepted: then it's not one bad
/// batch.
const MAX_REFUSED_BATCHES: u32 = 2;

/// Maximum number of doublings of the interval before a rejected batch is retried.
const MAX_DOUBLINGS: u32 = 16;

/// Minimum delay between attempts, even at shutdown: a request whose response was lost may still be processed.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The publisher of this process. Only the leader among the processes that share the folder publishes.
pub(super) struct Publisher {
    open: Arc<Open>,
    endpoint: Endpoint,
    schedule: Schedule,
    /// Held for the lifetime of the process, so that the publisher knows the endpoint's `Retry-After`.
    leader_lock: Option<Lock>,
    client: Option<Client>,
    /// Consecutive failed rounds.
    failures: u32,
    /// Newly rejected batches since the last accepted one.
    consecutive_refusals: u32,
    /// Batches that wait for an operator.
    postponed: HashMap<Id, PostponedBatch>,
    /// Nothing is sent before then, not even at shutdown: the endpoint asked for it, or has just failed.
    paused_until: Option<Instant>,
}

#[derive(Default)]
struct PostponedBatch {
    attempts: u32,
    until: Option<Instant>,
}

/// How a round ended.
enum RoundEnd {
    /// Everything due was sent.
    Done,
    /// The endpoint or the network failed.
    Retry { why: String, retry_after: Option<Duration> },
    /// A batch can't be delivered or deleted; it is postponed.
    Stuck,
    /// The buffer files failed.
    Local(io::Error),
}

impl From<io::Error> for RoundEnd {
    fn from(error: io::Error) -> Self {
        Self::Local(error)
    }
}

impl Publisher {
    pub(super) fn new(open: Arc<Open>, endpoint: Endpoint, schedule: Schedule) -> Self {
        Self {
            open,
            endpoint,
            schedule,
            leader_lock: None,
            client: None,
            failures: 0,
            consecutive_refusals: 0,
            postponed: HashMap::new(),
            paused_until: None,
        }
    }

    /// Whether sending is paused.
    pub(super) fn is_paused(&self) -> bool {
        self.paused_until.is_some_and(|until| Instant::now() < until)
    }

    /// Runs one round; returns the delay until the next one.
    pub(super) async fn round(&mut self) -> Duration {
        self.publish_all().instrument(tracing::error_span!("publish_analytics")).await
    }

    async fn publish_all(&mut self) -> Duration {
        if !self.lead().await {
            return self.schedule.interval;
        }
        self.paused_until = None;
        let ended = self.send_all().await.err().unwrap_or(RoundEnd::Done);
        match ended {
            RoundEnd::Done | RoundEnd::Stuck => {
                self.failures = 0;
                self.schedule.interval
            }
            RoundEnd::Retry { why, retry_after } => self.back_off(&why, retry_after),
            RoundEnd::Local(error) => {
                let why = format!("could not access the buffer: {error}");
                self.back_off(&why, None)
            }
        }
    }

    /// Whether this process is the publisher; tries to become it.
    async fn lead(&mut self) -> bool {
        if self.leader_lock.is_none() {
            let folder = self.open.folder.clone();
            let lock = blocking(move || {
                folder.create()?;
                let lock = Lock::try_acquire(&folder.publisher_lock())?;
                if lock.is_some()
                    && let Err(error) = batch::sweep(&folder)
                {
                    tracing::debug!(%error, "could not delete abandoned analytics batches");
                }
                Ok(lock)
            });
            match lock.await {
                Ok(lock) => self.leader_lock = lock,
                Err(error) => {
                    tracing::warn!(%error, "cannot publish analytics: the buffer folder must be writable");
                }
            }
        }
        self.leader_lock.is_some()
    }

    async fn send_all(&mut self) -> Result<(), RoundEnd> {
        let folder = self.open.folder.clone();
        let pending = blocking(move || folder.batches()).await?;
        self.postponed.retain(|id, _| pending.contains(id));
        for id in pending {
            if self.is_due(id) {
                self.send(id).await?;
            }
        }
        if self.consecutive_refusals < MAX_REFUSED_BATCHES {
            let folder = self.open.folder.clone();
            let next = Id::new(Timestamp::now()).map_err(io::Error::from)?;
            if let Some(id) = blocking(move || batch::freeze(&folder, next)).await? {
                self.send(id).await?;
            }
        }
        Ok(())
    }

    async fn send(&mut self, id: Id) -> Result<(), RoundEnd> {
        let folder = self.open.folder.clone();
        let batch = match blocking(move || batch::read(&folder, id)).await {
            Ok(Some(batch)) => batch,
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::warn!(
                    batch.id = %id, %error,
                    "cannot read an analytics batch: analytics-batch-{id}.jsonl must belong to the user of this process"
                );
                return Err(self.postpone(id));
            }
        };
        if batch.events > 0 {
            let client = self.client().await?;
            match post(&client, &self.endpoint, id, batch.body).await {
                PostOutcome::Stored => {
                    self.failures = 0;
                    self.consecutive_refusals = 0;
                    self.open.tally.published.add(batch.events);
                }
                PostOutcome::Retry { why, retry_after } => return Err(RoundEnd::Retry { why, retry_after }),
                PostOutcome::Refused { status, advice } => return Err(self.refuse(id, status, advice)),
            }
        }
        self.remove(id, batch.torn).await
    }

    async fn remove(&mut self, id: Id, torn: Vec<Vec<u8>>) -> Result<(), RoundEnd> {
        let (folder, lines) = (self.open.folder.clone(), torn.len());
        if let Err(error) = blocking(move || batch::remove(&folder, id, &torn)).await {
            tracing::warn!(
                batch.id = %id, %error,
                "an analytics batch was delivered but its file can't be deleted; it will be sent again with the same key"
            );
            return Err(self.postpone(id));
        }
        if lines > 0 {
            self.open.tally.torn.add(lines as u64);
            tracing::warn!(
                batch.id = %id, lines,
                "moved incomplete analytics events, left by a kill or a full disk, to analytics-torn.jsonl"
            );
        }
        Ok(())
    }

    /// The HTTP client, created on first use; a failure is retried in the next round.
    async fn client(&mut self) -> Result<Client, RoundEnd> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let (endpoint, timeout) = (self.endpoint.clone(), self.schedule.timeout);
        match blocking(move || Ok(endpoint.client(timeout))).await? {
            Ok(client) => Ok(self.client.insert(client).clone()),
            Err(error) => Err(RoundEnd::Retry { why: error.to_string(), retry_after: None }),
        }
    }

    fn is_due(&self, id: Id) -> bool {
        let until = self.postponed.get(&id).and_then(|postponed| postponed.until);
        until.is_none_or(|until| Instant::now() >= until)
    }

    fn postpone(&mut self, id: Id) -> RoundEnd {
        let postponed = self.postponed.entry(id).or_default();
        postponed.attempts = MAX_DOUBLINGS.min(postponed.attempts + 1);
        let wait = wait::after_failures(self.schedule.interval, postponed.attempts, jitter());
        postponed.until = Some(Instant::now() + wait);
        RoundEnd::Stuck
    }

    fn refuse(&mut self, id: Id, status: u16, advice: &str) -> RoundEnd {
        if !self.postponed.contains_key(&id) {
            self.consecutive_refusals = self.consecutive_refusals.saturating_add(1);
        }
        tracing::warn!(
            endpoint = %self.endpoint, batch.id = %id, status,
            "the analytics endpoint refused a batch, which is kept as analytics-batch-{id}.jsonl: {advice}"
        );
        self.postpone(id)
    }

    fn back_off(&mut self, why: &str, retry_after: Option<Duration>) -> Duration {
        self.failures = self.failures.saturating_add(1);
        let interval = self.schedule.interval;
        let wait = match retry_after {
            Some(retry_after) => wait::after_retry_after(interval, retry_after),
            None => wait::after_failures(interval, self.failures, jitter()),
        };
        self.paused_until =
            Some(Instant::now() + retry_after.map_or(MIN_RETRY_DELAY.min(interval), |_| wait));
        tracing::warn!(
            endpoint = %self.endpoint, failures = self.failures, next_in_ms = wait.as_millis() as u64,
            "analytics events were not delivered; they are buffered: {why}"
        );
        wait
    }
}

/// Runs blocking work on the blocking thread pool.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn jitter() -> u8 {
    let mut byte = [0];
    let _zero_is_fine = getrandom::fill(&mut byte);
    let [byte] = byte;
    byte
}
