//! One round of publishing: the batches that are left over, oldest first, then what is buffered.
//!
//! A round ends at the first failure. What is buffered stays there while batches are left over, so an endpoint that is
//! away for days does not make a file of every half minute.

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

/// When so many batches in a row were refused, it is not one bad batch: no more are made until one gets through.
const MAX_REFUSED_BATCHES: u32 = 2;

/// The longest wait before a refused batch is tried again is about this many doublings of the pace.
const MAX_DOUBLINGS: u32 = 16;

/// The least between two tries, even at the end: a request whose answer was lost may still be worked on.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The process that publishes for all that share the folder, or that waits to become it.
pub(super) struct Publisher {
    open: Arc<Open>,
    endpoint: Endpoint,
    schedule: Schedule,
    /// Held for as long as this process lives, so that what the endpoint asks for is known to the one that asks it.
    leads: Option<Lock>,
    client: Option<Client>,
    /// Rounds that failed, since one that did not.
    failures: u32,
    /// Batches that were refused for the first time, since one was taken.
    refused_in_a_row: u32,
    /// Batches that wait for somebody to do something.
    postponed: HashMap<Id, PostponedBatch>,
    /// Until then nothing is sent, not even at the end: the endpoint asked for it, or has just failed.
    quiet_until: Option<Instant>,
}

#[derive(Default)]
struct PostponedBatch {
    times: u32,
    until: Option<Instant>,
}

/// What ended a round.
enum RoundEnd {
    /// All that could be sent was.
    Done,
    /// The endpoint, or the network before it, failed.
    Later { why: String, retry_after: Option<Duration> },
    /// One batch can't be delivered or removed; it was postponed.
    Stuck,
    /// Our own files failed us.
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
            leads: None,
            client: None,
            failures: 0,
            refused_in_a_row: 0,
            postponed: HashMap::new(),
            quiet_until: None,
        }
    }

    /// Whether the endpoint is to be left alone for now.
    pub(super) fn must_be_quiet(&self) -> bool {
        self.quiet_until.is_some_and(|until| Instant::now() < until)
    }

    /// Sends what there is, and says how long to wait before the next round.
    pub(super) async fn round(&mut self) -> Duration {
        self.publish_all().instrument(tracing::error_span!("publish_analytics")).await
    }

    async fn publish_all(&mut self) -> Duration {
        if !self.lead().await {
            return self.schedule.every;
        }
        self.quiet_until = None;
        let ended = self.send_all().await.err().unwrap_or(RoundEnd::Done);
        match ended {
            RoundEnd::Done | RoundEnd::Stuck => {
                self.failures = 0;
                self.schedule.every
            }
            RoundEnd::Later { why, retry_after } => self.failed(&why, retry_after),
            RoundEnd::Local(error) => {
                let why = format!("a file of the buffer could not be used: {error}");
                self.failed(&why, None)
            }
        }
    }

    /// Whether this process is the one that publishes.
    async fn lead(&mut self) -> bool {
        if self.leads.is_none() {
            let folder = self.open.folder.clone();
            let lock = blocking(move || {
                folder.create()?;
                let lock = Lock::now(&folder.publisher_lock())?;
                if lock.is_some()
                    && let Err(error) = batch::sweep(&folder)
                {
                    tracing::debug!(%error, "unfinished analytics batches could not be removed");
                }
                Ok(lock)
            });
            match lock.await {
                Ok(lock) => self.leads = lock,
                Err(error) => {
                    tracing::warn!(%error, "analytics can't be published: the folder of the buffer must be writable");
                }
            }
        }
        self.leads.is_some()
    }

    async fn send_all(&mut self) -> Result<(), RoundEnd> {
        let folder = self.open.folder.clone();
        let left_over = blocking(move || folder.batches()).await?;
        self.postponed.retain(|id, _| left_over.contains(id));
        for id in left_over {
            if self.is_due(id) {
                self.send(id).await?;
            }
        }
        if self.refused_in_a_row < MAX_REFUSED_BATCHES {
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
                    "an analytics batch can't be read: make analytics-batch-{id}.jsonl a file of the user who runs this"
                );
                return Err(self.postpone(id));
            }
        };
        if batch.events > 0 {
            let client = self.client().await?;
            match post(&client, &self.endpoint, id, batch.body).await {
                PostOutcome::Stored => {
                    self.failures = 0;
                    self.refused_in_a_row = 0;
                    self.open.tally.published.add(batch.events);
                }
                PostOutcome::Later { why, retry_after } => return Err(RoundEnd::Later { why, retry_after }),
                PostOutcome::Refused { status, advice } => return Err(self.refused(id, status, advice)),
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
                "unfinished analytics events, as a kill or a full disk leaves them, were set aside in analytics-torn.jsonl"
            );
        }
        Ok(())
    }

    /// The client, made when it is first needed; where that fails, it is tried again in the next round.
    async fn client(&mut self) -> Result<Client, RoundEnd> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let (endpoint, timeout) = (self.endpoint.clone(), self.schedule.timeout);
        match blocking(move || Ok(endpoint.client(timeout))).await? {
            Ok(client) => Ok(self.client.insert(client).clone()),
            Err(error) => Err(RoundEnd::Later { why: error.to_string(), retry_after: None }),
        }
    }

    fn is_due(&self, id: Id) -> bool {
        let until = self.postponed.get(&id).and_then(|postponed| postponed.until);
        until.is_none_or(|until| Instant::now() >= until)
    }

    fn postpone(&mut self, id: Id) -> RoundEnd {
        let postponed = self.postponed.entry(id).or_default();
        postponed.times = MAX_DOUBLINGS.min(postponed.times + 1);
        let wait = wait::after_failures(self.schedule.every, postponed.times, chance());
        postponed.until = Some(Instant::now() + wait);
        RoundEnd::Stuck
    }

    fn refused(&mut self, id: Id, status: u16, advice: &str) -> RoundEnd {
        if !self.postponed.contains_key(&id) {
            self.refused_in_a_row = self.refused_in_a_row.saturating_add(1);
        }
        tracing::warn!(
            endpoint = %self.endpoint, batch.id = %id, status,
            "the analytics endpoint refused a batch, which is kept as analytics-batch-{id}.jsonl: {advice}"
        );
        self.postpone(id)
    }

    fn failed(&mut self, why: &str, retry_after: Option<Duration>) -> Duration {
        self.failures = self.failures.saturating_add(1);
        let every = self.schedule.every;
        let wait = match retry_after {
            Some(retry_after) => wait::after_retry_after(every, retry_after),
            None => wait::after_failures(every, self.failures, chance()),
        };
        self.quiet_until = Some(Instant::now() + retry_after.map_or(MIN_RETRY_DELAY.min(every), |_| wait));
        tracing::warn!(
            endpoint = %self.endpoint, failures = self.failures, next_in_ms = wait.as_millis() as u64,
            "analytics events were not delivered; they are buffered: {why}"
        );
        wait
    }
}

/// Runs work that waits for the disk where it holds up nobody.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn chance() -> u8 {
    let mut byte = [0];
    let _without_chance_is_fine = getrandom::fill(&mut byte);
    let [byte] = byte;
    byte
}
