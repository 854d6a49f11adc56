//! The embedding queue: vectors computed in the background, never of two models mixed.
//!
//! Each is kept under its model and the hash of what the model was given, so that a kill loses one batch at most and a
//! changed page costs what changed in it. With another model, its vectors are made beside those in use, which are used
//! until the last is there.

mod embedding;

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use lyceum_models::embedder::{EmbedError, Embedder, Identity};
use lyceum_net::Backoff;
use lyceum_store::{
    DbError, events, pages,
    vectors::{self, ModelRow, ModelState},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    failure::Failure,
    memory::ActiveModel,
    page::Facts,
    search::{OpenIndex, Search, passage},
};

use embedding::embedded;

/// What sets a model up, by its settings as they are kept.
pub type Connect =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Arc<dyn Embedder>, EmbedError>> + Send + Sync>;

/// Chunks embedded per transaction.
const BATCH_CHUNKS: usize = 64;

/// Chunks queued per scan: finding those without a vector scans all chunks.
const SCAN_CHUNKS: usize = 1_024;

/// How long after a failure it is tried again.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };

/// How long it is waited for news of chunks without being told.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How long no page may have come before the model takes the machine, and how long that is waited for at most: words are
/// what a page is found by first.
const INGEST_QUIET_TIME: Duration = Duration::from_millis(300);
const INGEST_QUIET_TIMEOUT: Duration = Duration::from_secs(10);

/// How often vectors that no chunk has any more are let go: what comes back soon is not made again.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// How the model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelStatus {
    /// None is wanted.
    Off,
    /// It is being fetched or loaded.
    Preparing,
    /// It works.
    Ready,
    /// It does not work; it is tried again.
    Failed(Failure),
}

impl Search {
    /// Sets the model up and turns chunks into vectors as they come, until it is told to stop.
    pub async fn keep_embedded(self: Arc<Self>, stop: CancellationToken) {
        let Some(settings) = self.options.embedder.clone() else { return };
        let work = async {
            let mut failures = 0;
            loop {
                match self.fill(&settings, &mut failures).await {
                    Ok(()) => {}
                    Err(failure) => {
                        let is_news = self.model.send_if_modified(|status| {
                            let failed = ModelStatus::Failed(failure.clone());
                            std::mem::replace(status, failed.clone()) != failed
                        });
                        if is_news {
                            tracing::warn!(
                                error.cause = failure.detail,
                                "embedding failed; search is lexical until it works again"
                            );
                        }
                    }
                }
                failures += 1;
                tokio::time::sleep(BACKOFF.after(failures)).await;
            }
        };
        tokio::select! {
            () = work => {}
            () = stop.cancelled() => {}
        }
    }

    /// Sets the model up, and works for as long as it goes well; what goes well sets the failures back to none.
    async fn fill(&self, settings: &str, failures: &mut u32) -> Result<(), Failure> {
        let opened = self.opened().await?;
        let embedder = (self.options.connect)(settings.to_owned()).await?;
        // Setting it up showed that it answers.
        self.breaker().succeeded();
        let (mut enrolled, mut gone, mut swept) = (None, None, None);
        let mut queue = Queue::default();
        loop {
            if !self.leads() {
                self.choose(&opened, &embedder, &mut gone).await?;
                self.model.send_replace(ModelStatus::Ready);
                self.rest().await;
                continue;
            }
            let model = match enrolled {
                Some(model) => model,
                None => {
                    let row = self.enrol(&opened, settings, embedder.identity()).await?;
                    self.choose(&opened, &embedder, &mut gone).await?;
                    *enrolled.insert(row.id)
                }
            };
            if queue.waiting.is_empty() {
                let _out_of_patience =
                    tokio::time::timeout(INGEST_QUIET_TIMEOUT, self.quiet()).await.is_err();
            }
            let done = self.fill_some(&opened, model, &embedder, &mut queue).await?;
            *failures = 0;
            self.model.send_replace(ModelStatus::Ready);
            if done == 0 {
                self.swap(&opened, model, &embedder).await?;
                sweep(&opened, &mut swept).await?;
                self.rest().await;
            }
        }
    }

    /// Waits until no page has come for a moment.
    async fn quiet(&self) {
        while tokio::time::timeout(INGEST_QUIET_TIME, self.unembedded_chunks.notified()).await.is_ok() {}
    }

    async fn rest(&self) {
        let _told = tokio::time::timeout(POLL_INTERVAL, self.unembedded_chunks.notified()).await;
    }

    /// The number of the model in the database. What it did not take before is tried again.
    async fn enrol(
        &self,
        opened: &OpenIndex,
        settings: &str,
        identity: &Identity,
    ) -> Result<ModelRow, DbError> {
        let identity = serde_json::to_string(identity).unwrap_or_default();
        let settings = settings.to_owned();
        let enrol = move |tx: &lyceum_store::Tx<'_>| {
            let row = vectors::model(tx, &identity, &settings)?;
            vectors::forgive(tx, row.id)?;
            Ok(row)
        };
        opened.db.write(enrol).await
    }

    /// Which model is used until all vectors of the wanted one are there: another that is complete, else the wanted one
    /// with as many as it has. One that can't be set up any more is remembered as gone.
    async fn choose(
        &self,
        opened: &Arc<OpenIndex>,
        embedder: &Arc<dyn Embedder>,
        gone: &mut Option<i64>,
    ) -> Result<(), DbError> {
        let models = opened.db.read(vectors::models).await?;
        let identity = serde_json::to_string(embedder.identity()).unwrap_or_default();
        let wanted = models.iter().find(|one| one.identity == identity).map(|one| one.id);
        self.wanted.store(wanted.unwrap_or_default(), Ordering::Relaxed);
        let used = opened.active().map(|active| active.model);
        let complete = models.iter().find(|one| one.state == ModelState::Active && Some(one.id) != wanted);
        if let Some(old) = complete.filter(|old| *gone != Some(old.id)) {
            if used == Some(old.id) {
                return Ok(());
            }
            if let Some(before) = self.connect_again(old).await {
                return use_model(opened, old.id, &before).await;
            }
            *gone = Some(old.id);
        }
        match wanted {
            Some(wanted) if used == Some(wanted) => {
                opened.memory_mut().use_embedder(wanted, embedder);
                Ok(())
            }
            Some(wanted) => use_model(opened, wanted, embedder).await,
            None => Ok(()),
        }
    }

    /// Sets a model up that vectors were made with before.
    async fn connect_again(&self, old: &ModelRow) -> Option<Arc<dyn Embedder>> {
        match (self.options.connect)(old.settings.clone()).await {
            Ok(before) if serde_json::to_string(before.identity()).ok().as_deref() == Some(&old.identity) => {
                let name = &before.identity().name;
                tracing::info!(
                    model.name = name,
                    "switching models; queries use the old vectors until the new ones are complete"
                );
                Some(before)
            }
            Ok(_) => {
                tracing::info!("the embedding model has changed; computing all vectors again");
                None
            }
            Err(error) => {
                tracing::info!(error.cause = %error, "the embedding model is gone; computing all vectors again");
                None
            }
        }
    }

    /// Turns some chunks into vectors, and says how many were dealt with.
    async fn fill_some(
        &self,
        opened: &Arc<OpenIndex>,
        model: i64,
        embedder: &Arc<dyn Embedder>,
        queue: &mut Queue,
    ) -> Result<usize, Failure> {
        if queue.waiting.is_empty() {
            let done = queue.done;
            let read = opened.db.read(move |tx| pending_chunks(tx, model, done)).await?;
            let Some(pending) = read else { return Ok(0) };
            self.unembedded.store(pending.count, Ordering::Relaxed);
            *queue = pending.queue;
        }
        let batch: Vec<PendingText> = queue.waiting.drain(..queue.waiting.len().min(BATCH_CHUNKS)).collect();
        if batch.is_empty() {
            return Ok(0);
        }
        let span = tracing::error_span!("embed", chunks = batch.len());
        let stored = embedded(embedder, &batch).instrument(span).await?;
        // Where it broke off, what is left comes again with the next look.
        let dealt_with = stored.len();
        let chunks: i64 = batch.iter().take(dealt_with).map(|waiting| waiting.count).sum();
        opened.db.write(move |tx| vectors::put(tx, model, &stored)).await?;
        self.unembedded.fetch_sub(chunks, Ordering::Relaxed);
        let opened = opened.clone();
        let followed = tokio::task::spawn_blocking(move || opened.follow()).await;
        followed.map_err(|error| Failure::of_work(&error))??;
        Ok(dealt_with)
    }

    /// Once every chunk has its vector, the model is the one that is used, and what others made is let go.
    async fn swap(
        &self,
        opened: &Arc<OpenIndex>,
        model: i64,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<(), DbError> {
        let models = opened.db.read(vectors::models).await?;
        let is_alone =
            matches!(models.as_slice(), [one] if one.id == model && one.state == ModelState::Active);
        if !is_alone {
            let empty = opened.db.read(move |tx| Ok(pages::count(tx)?.1 == 0)).await?;
            if empty {
                return Ok(());
            }
            opened.db.write(move |tx| vectors::activate(tx, model)).await?;
        }
        if opened.active().is_none_or(|active| active.model != model) {
            use_model(opened, model, embedder).await?;
        }
        Ok(())
    }

    /// Sees whether another process has exchanged the model. Blocks.
    pub(crate) fn follow_model(&self, opened: &OpenIndex) -> Result<(), DbError> {
        let active = opened.db.read_here(vectors::active)?;
        let used = opened.active().map(|active| active.model);
        // The vectors in use answer until this process has set the other model up, too.
        if active.is_some() && active != used && !self.leads() {
            self.unembedded_chunks.notify_one();
        }
        Ok(())
    }
}

/// Chunks that wait for their vectors.
#[derive(Default)]
struct Queue {
    waiting: Vec<PendingText>,
    /// The number of the last event when nothing waited: until there is another, nothing does.
    done: Option<i64>,
}

/// What a model is to be given for one chunk, or for several that say the same.
struct PendingText {
    hash: Vec<u8>,
    text: String,
    /// How many chunks that is for.
    count: i64,
}

/// Chunks without a vector.
struct PendingChunks {
    queue: Queue,
    /// How many chunks have none.
    count: i64,
}

/// Lets go of vectors that no chunk has any more, every now and then.
async fn sweep(opened: &OpenIndex, swept: &mut Option<Instant>) -> Result<(), DbError> {
    if swept.is_none_or(|before| before.elapsed() > SWEEP_INTERVAL) {
        opened.db.write(vectors::sweep).await?;
        *swept = Some(Instant::now());
    }
    Ok(())
}

/// Answers are found with this model from now on.
async fn use_model(opened: &Arc<OpenIndex>, model: i64, embedder: &Arc<dyn Embedder>) -> Result<(), DbError> {
    let opened = opened.clone();
    let active = ActiveModel { model, embedder: embedder.clone() };
    let used = tokio::task::spawn_blocking(move || opened.use_model(active));
    used.await.unwrap_or(Err(DbError::Closed))
}

/// Looks for chunks without vectors, unless nothing was written since there were none.
fn pending_chunks(
    tx: &lyceum_store::Tx<'_>,
    model: i64,
    done: Option<i64>,
) -> Result<Option<PendingChunks>, DbError> {
    let last = events::last(tx)?;
    if done == Some(last) {
        return Ok(None);
    }
    let count = vectors::count_pending(tx, model)?;
    let queue = match count {
        0 => Queue { waiting: Vec::new(), done: Some(last) },
        _ => Queue { waiting: pending(tx, model)?, done: None },
    };
    Ok(Some(PendingChunks { queue, count }))
}

/// Chunks without vectors, and what the model is to be given for each.
fn pending(tx: &lyceum_store::Tx<'_>, model: i64) -> Result<Vec<PendingText>, DbError> {
    let waiting = vectors::pending(tx, model, SCAN_CHUNKS)?;
    let chunks: Vec<i64> = waiting.iter().map(|one| one.chunk).collect();
    let texts = vectors::texts(tx, &chunks)?;
    let mut all = Vec::with_capacity(texts.len());
    for (one, (_, page, heading, text)) in waiting.into_iter().zip(texts) {
        let Some(stored) = pages::page(tx, page)? else { continue };
        let facts: Facts =
            serde_json::from_str(&stored.facts).map_err(|error| DbError::Content(error.to_string()))?;
        all.push(PendingText { hash: one.hash, text: passage(&facts, &heading, &text), count: one.count });
    }
    Ok(all)
}
