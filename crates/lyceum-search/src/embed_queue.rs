//! The embedding queue: computes missing vectors in the background and never mixes two models.
//!
//! A vector is stored under its model and the hash of the embedded text. A crash loses at most one batch, and a changed
//! page only re-embeds the chunks that changed. After a model change the old vectors serve queries until the new ones
//! are complete.

mod embedding;

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use jiff::Timestamp;
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

use embedding::embed_batch;

/// Creates an embedder from its serialized settings.
pub type Connect =
    Arc<dyn Fn(String) -> BoxFuture<'static, Result<Arc<dyn Embedder>, EmbedError>> + Send + Sync>;

/// Chunks embedded per transaction.
const BATCH_CHUNKS: usize = 64;

/// Texts read from the queue at a time.
const SCAN_CHUNKS: usize = 1_024;

/// Delay before a retry.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };

/// How often to look for new chunks without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Embedding starts once no page was ingested for this long, because lexical indexing comes first; and at the latest
/// after the timeout.
const INGEST_QUIET_TIME: Duration = Duration::from_millis(300);
const INGEST_QUIET_TIMEOUT: Duration = Duration::from_secs(10);

/// How often orphaned vectors are deleted. Rarely, so that content that returns soon is not embedded again.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// The status of the embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelStatus {
    /// No model is configured.
    Off,
    /// The model is being downloaded or loaded.
    Preparing,
    /// The model works.
    Ready,
    /// The model failed and is being retried.
    Failed(Failure),
}

impl Search {
    /// Loads the model and embeds new chunks until cancelled.
    pub async fn keep_embedded(self: Arc<Self>, stop: CancellationToken) {
        let Some(settings) = self.options.embedder.clone() else { return };
        let work = async {
            let mut failures = 0;
            loop {
                match self.run_queue(&settings, &mut failures).await {
                    Ok(()) => {}
                    Err(failure) => {
                        let is_new = self.model.send_if_modified(|status| {
                            let failed = ModelStatus::Failed(failure.clone());
                            std::mem::replace(status, failed.clone()) != failed
                        });
                        if is_new {
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

    /// Loads the model and runs the queue until the first error. A successful batch resets `failures`.
    async fn run_queue(self: &Arc<Self>, settings: &str, failures: &mut u32) -> Result<(), Failure> {
        let opened = self.opened().await?;
        let embedder = (self.options.connect)(settings.to_owned()).await?;
        // Loading included a successful call.
        self.breaker().succeeded();
        let (mut registered, mut unavailable, mut last_sweep) = (None, None, None);
        let mut queue = Vec::new();
        loop {
            if !self.leads(&opened).await? {
                registered = None;
                self.select_model(&opened, &embedder, &mut unavailable).await?;
                self.model.send_replace(ModelStatus::Ready);
                self.wait_for_chunks().await;
                continue;
            }
            let model = match registered {
                Some(model) => model,
                None => {
                    let row = self.register_model(&opened, settings, embedder.identity()).await?;
                    self.select_model(&opened, &embedder, &mut unavailable).await?;
                    *registered.insert(row.id)
                }
            };
            if queue.is_empty() {
                let _timed_out =
                    tokio::time::timeout(INGEST_QUIET_TIMEOUT, self.ingest_pause()).await.is_err();
            }
            let processed = self.embed_next_batch(&opened, model, &embedder, &mut queue).await?;
            *failures = 0;
            self.model.send_replace(ModelStatus::Ready);
            if processed == 0 {
                sweep(&opened, &mut last_sweep).await?;
                self.activate(&opened, model, &embedder).await?;
                self.wait_for_chunks().await;
            }
        }
    }

    /// Waits for a pause in ingest.
    async fn ingest_pause(&self) {
        while tokio::time::timeout(INGEST_QUIET_TIME, self.unembedded_chunks.notified()).await.is_ok() {}
    }

    async fn wait_for_chunks(&self) {
        let _notified = tokio::time::timeout(POLL_INTERVAL, self.unembedded_chunks.notified()).await;
    }

    /// Registers the model in the database, and clears the chunks it rejected before, so that they are retried.
    async fn register_model(
        &self,
        opened: &OpenIndex,
        settings: &str,
        identity: &Identity,
    ) -> Result<ModelRow, DbError> {
        let identity = serde_json::to_string(identity).unwrap_or_default();
        let settings = settings.to_owned();
        let index = opened.index;
        let register_model = move |tx: &lyceum_store::Tx<'_>| {
            let row = vectors::model(tx, index, &identity, &settings)?;
            vectors::retry_rejected(tx, row.id)?;
            Ok(row)
        };
        opened.write(register_model).await
    }

    /// Selects the model that serves queries until the target model has all vectors: another complete model, else the
    /// target model with the vectors it has. Remembers an old model that can't be loaded in `unavailable`.
    async fn select_model(
        self: &Arc<Self>,
        opened: &Arc<OpenIndex>,
        embedder: &Arc<dyn Embedder>,
        unavailable: &mut Option<i64>,
    ) -> Result<(), DbError> {
        let index = opened.index;
        let models = opened.db.read(move |tx| vectors::models(tx, index)).await?;
        let identity = serde_json::to_string(embedder.identity()).unwrap_or_default();
        let target_model = models.iter().find(|one| one.identity == identity).map(|one| one.id);
        self.target_model.store(target_model.unwrap_or_default(), Ordering::Relaxed);
        // Before queries use the model, so that the first one already knows what is missing.
        let (search, counted) = (self.clone(), opened.clone());
        let done = tokio::task::spawn_blocking(move || search.count_unembedded(&counted)).await;
        done.unwrap_or(Err(DbError::Closed))?;
        let used = opened.active().map(|active| active.model);
        let complete =
            models.iter().find(|one| one.state == ModelState::Active && Some(one.id) != target_model);
        if let Some(old) = complete.filter(|old| *unavailable != Some(old.id)) {
            if used == Some(old.id) {
                return Ok(());
            }
            if let Some(before) = self.reconnect(old).await {
                return use_model(opened, old.id, &before).await;
            }
            *unavailable = Some(old.id);
        }
        match target_model {
            Some(target_model) if used == Some(target_model) => {
                opened.memory_mut().use_embedder(target_model, embedder);
                Ok(())
            }
            Some(target_model) => use_model(opened, target_model, embedder).await,
            None => Ok(()),
        }
    }

    /// Loads a model that the index was embedded with before.
    async fn reconnect(&self, old: &ModelRow) -> Option<Arc<dyn Embedder>> {
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

    /// Embeds one batch and returns the number of chunks processed.
    async fn embed_next_batch(
        &self,
        opened: &Arc<OpenIndex>,
        model: i64,
        embedder: &Arc<dyn Embedder>,
        queue: &mut Vec<PendingText>,
    ) -> Result<usize, Failure> {
        while queue.is_empty() {
            let pending = opened.db.read(move |tx| pending_texts(tx, model)).await?;
            self.unembedded.store(pending.count, Ordering::Relaxed);
            if pending.texts.is_empty() && pending.gone.is_empty() {
                return Ok(0);
            }
            *queue = pending.texts;
            if !pending.gone.is_empty() {
                opened.write(move |tx| vectors::forget_pending(tx, model, &pending.gone)).await?;
            }
        }
        let batch: Vec<PendingText> = queue.drain(..queue.len().min(BATCH_CHUNKS)).collect();
        let span = tracing::error_span!("embed", chunks = batch.len());
        let stored = embed_batch(embedder, &batch).instrument(span).await?;
        // If the model failed midway, the rest of the batch is found again by the next scan.
        let processed = stored.len();
        let chunks: i64 = batch.iter().take(processed).map(|pending| pending.count).sum();
        let (index, now) = (opened.index, Timestamp::now());
        opened.write(move |tx| vectors::put(tx, index, model, &stored, now)).await?;
        self.unembedded.fetch_sub(chunks, Ordering::Relaxed);
        let opened = opened.clone();
        let followed = tokio::task::spawn_blocking(move || opened.follow()).await;
        followed.map_err(|error| Failure::of_task(&error))??;
        Ok(processed)
    }

    /// Activates the model once every chunk has a vector, and deletes the vectors of other models.
    async fn activate(
        &self,
        opened: &Arc<OpenIndex>,
        model: i64,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<(), DbError> {
        let index = opened.index;
        let models = opened.db.read(move |tx| vectors::models(tx, index)).await?;
        let is_only_model =
            matches!(models.as_slice(), [one] if one.id == model && one.state == ModelState::Active);
        if !is_only_model {
            let empty = opened.db.read(move |tx| Ok(pages::count(tx, index)?.1 == 0)).await?;
            if empty {
                return Ok(());
            }
            opened.write(move |tx| vectors::activate(tx, index, model)).await?;
        }
        if opened.active().is_none_or(|active| active.model != model) {
            use_model(opened, model, embedder).await?;
        }
        Ok(())
    }

    /// Counts the chunks without a vector of the configured model, unless nothing changed since the last time. Blocks.
    pub(crate) fn count_unembedded(&self, opened: &OpenIndex) -> Result<(), DbError> {
        let model = self.target_model.load(Ordering::Relaxed);
        let mut counted_at = self.unembedded_at.lock().unwrap_or_else(PoisonError::into_inner);
        let last = *counted_at;
        let counted = opened.db.read_blocking(|tx| {
            let (of_pages, of_vectors) = (pages::stream(opened.index), vectors::stream(opened.index));
            let at = (model, events::last(tx, &of_pages)?, events::last(tx, &of_vectors)?);
            let is_new = model > 0 && last != Some(at);
            is_new.then(|| Ok((at, vectors::count_pending(tx, model)?))).transpose()
        })?;
        if let Some((at, count)) = counted {
            self.unembedded.store(count, Ordering::Relaxed);
            *counted_at = Some(at);
        }
        Ok(())
    }

    /// Notices that another process has switched models. Blocks.
    pub(crate) fn follow_model(&self, opened: &OpenIndex) -> Result<(), DbError> {
        let active = opened.db.read_blocking(|tx| vectors::active(tx, opened.index))?;
        let used = opened.active().map(|active| active.model);
        // The current vectors serve queries until this process has loaded the other model.
        if active.is_some() && active != used && self.is_follower(opened) {
            self.unembedded_chunks.notify_one();
        }
        Ok(())
    }
}

/// A text to embed, for one chunk or for several with the same content.
struct PendingText {
    hash: Vec<u8>,
    text: String,
    /// Number of chunks with this text.
    count: i64,
}

/// The first texts of the queue.
struct PendingTexts {
    texts: Vec<PendingText>,
    /// Hashes of texts that no chunk has any more.
    gone: Vec<Vec<u8>>,
    /// Number of chunks without a vector.
    count: i64,
}

/// Deletes orphaned vectors, at most once per [`SWEEP_INTERVAL`].
async fn sweep(opened: &OpenIndex, last_sweep: &mut Option<Instant>) -> Result<(), DbError> {
    if last_sweep.is_none_or(|before| before.elapsed() > SWEEP_INTERVAL) {
        let index = opened.index;
        opened.write(move |tx| vectors::sweep(tx, index)).await?;
        *last_sweep = Some(Instant::now());
    }
    Ok(())
}

/// Switches queries to this model.
async fn use_model(opened: &Arc<OpenIndex>, model: i64, embedder: &Arc<dyn Embedder>) -> Result<(), DbError> {
    let opened = opened.clone();
    let active = ActiveModel { model, embedder: embedder.clone() };
    let used = tokio::task::spawn_blocking(move || opened.use_model(&active));
    used.await.unwrap_or(Err(DbError::Closed))
}

/// Reads the first texts of the queue.
fn pending_texts(tx: &lyceum_store::Tx<'_>, model: i64) -> Result<PendingTexts, DbError> {
    let pending = vectors::pending(tx, model, SCAN_CHUNKS)?;
    let is_gone = |one: &&vectors::Pending| one.chunk.is_none();
    let gone = pending.iter().filter(is_gone).map(|one| one.hash.clone()).collect();
    let chunks: Vec<i64> = pending.iter().filter_map(|one| one.chunk).collect();
    let chunk_texts = vectors::texts(tx, &chunks)?;
    let page_ids: Vec<i64> = chunk_texts.iter().map(|(_, page, ..)| *page).collect();
    let stored = pages::pages(tx, &page_ids)?;
    let pending = pending.into_iter().filter(|one| one.chunk.is_some());
    let mut texts = Vec::with_capacity(chunk_texts.len());
    for ((one, (_, _, heading, text)), stored) in pending.zip(chunk_texts).zip(stored) {
        let Some(stored) = stored else { continue };
        let facts: Facts =
            serde_json::from_str(&stored.facts).map_err(|error| DbError::Content(error.to_string()))?;
        texts.push(PendingText { hash: one.hash, text: passage(&facts, &heading, &text), count: one.count });
    }
    Ok(PendingTexts { texts, gone, count: vectors::count_pending(tx, model)? })
}
