//! Keeps the search index up to date with the catalog, in the process that leads the index.

use std::{
    collections::HashMap,
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};

use lyceum_content::{
    knowledge::{self, Entry},
    language,
};
use lyceum_model::ErrorCode;
use lyceum_net::Backoff;
use lyceum_search::{Facts, Kind, Page, Plan, Search};
use lyceum_tools::Error;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{CatalogSnapshot, Document, Knowledge, search_request::is_of_skills};

/// Batch sizes of ingestion, in documents and bytes. The first batch is small, so that results are available soon;
/// later ones are larger, since that is cheaper.
const FIRST_BATCH_DOCUMENTS: usize = 200;
const BATCH_DOCUMENTS: usize = 1_000;
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// How long a query waits for the first documents to be indexed.
const FIRST_INDEX_TIMEOUT: Duration = Duration::from_secs(5);

/// Back-off after a failure.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(2), max: Duration::from_secs(60) };

impl Knowledge {
    /// Keeps the index up to date with the catalog, until stopped.
    pub async fn keep_searched(self: Arc<Self>, search: Arc<Search>, stop: CancellationToken) {
        let mut state = self.state();
        let work = async {
            let mut failures = 0;
            loop {
                let snapshot = state.borrow_and_update().snapshot.clone();
                let span = tracing::error_span!("index", source.name = %self.options.name);
                let done = self.ingest_snapshot(&search, &snapshot).instrument(span.clone()).await;
                match &done {
                    Ok(is_complete) => {
                        self.indexed.send_replace(snapshot.version.is_some());
                        if *is_complete {
                            *self.last_indexed() = Some(snapshot.clone());
                        }
                    }
                    Err(error) => {
                        tracing::warn!(parent: &span, error.cause = %error, "could not index documents; retrying");
                    }
                }
                match done {
                    Ok(true) => {
                        failures = 0;
                        if state.changed().await.is_err() {
                            return;
                        }
                    }
                    // Another process leads the index.
                    Ok(false) => tokio::time::sleep(BACKOFF.first).await,
                    Err(_) => {
                        failures += 1;
                        tokio::time::sleep(BACKOFF.after(failures)).await;
                    }
                }
            }
        };
        tokio::select! {
            () = work => {}
            () = stop.cancelled() => {}
        }
    }

    /// Whether the current snapshot is fully indexed. After a sync, documents are served slightly before they are
    /// indexed.
    pub fn is_indexed(&self) -> bool {
        let snapshot = self.snapshot();
        snapshot.version.is_none()
            || self.last_indexed().as_ref().is_some_and(|last| Arc::ptr_eq(last, &snapshot))
    }

    fn last_indexed(&self) -> MutexGuard<'_, Option<Arc<CatalogSnapshot>>> {
        self.last_indexed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Indexes a snapshot; returns false if another process leads the index.
    pub async fn ingest_snapshot(
        &self,
        search: &Arc<Search>,
        snapshot: &CatalogSnapshot,
    ) -> Result<bool, Error> {
        if snapshot.version.is_none() {
            return Ok(true);
        }
        let name = self.source_name().as_str();
        let wanted: HashMap<String, String> =
            snapshot.catalog.entries().iter().map(|entry| (entry.key(), entry.hash.clone())).collect();
        let Plan { read, gone } =
            search.plan(name, wanted, |key| !is_of_skills(key)).await.map_err(search_error)?;
        if !gone.is_empty() && !search.apply(name, Vec::new(), gone).await.map_err(search_error)? {
            return Ok(false);
        }
        let mut unread = 0_usize;
        let mut keys = read.iter().peekable();
        let mut batch_size = FIRST_BATCH_DOCUMENTS;
        while keys.peek().is_some() {
            let (mut pages, mut bytes) = (Vec::with_capacity(batch_size), 0);
            for key in keys.by_ref().take(batch_size) {
                let entry = key.split_once('/').and_then(|(kind, id)| snapshot.catalog.get(kind, id));
                let Some(entry) = entry else { continue };
                match self.document_uncached(entry).await {
                    Ok(document) => {
                        bytes += document.content.len();
                        pages.push(page(entry, &document));
                    }
                    Err(error) => {
                        unread += 1;
                        tracing::debug!(error.cause = %error, document.path = entry.summary.path, "could not read a document for the index");
                    }
                }
                if bytes > BATCH_BYTES {
                    break;
                }
            }
            if !search.apply(name, pages, Vec::new()).await.map_err(search_error)? {
                return Ok(false);
            }
            // Queries that wait for the first documents get them now, not after the last batch.
            self.indexed.send_replace(true);
            batch_size = BATCH_DOCUMENTS;
        }
        self.indexed.send_replace(true);
        if unread > 0 {
            let message = format!("{unread} documents could not be read for the index");
            return Err(Error::Failed { code: ErrorCode::UpstreamError, message });
        }
        Ok(true)
    }

    /// Waits until the first documents are indexed, so that the first query doesn't come back empty. The wait is short,
    /// since another process may lead the index.
    pub(crate) async fn wait_until_indexed(&self) {
        let mut indexed = self.indexed.subscribe();
        let _settled =
            tokio::time::timeout(FIRST_INDEX_TIMEOUT, indexed.wait_for(|indexed| *indexed)).await.is_ok();
    }
}

/// Converts a document to a search page.
fn page(entry: &Entry, document: &Document) -> Page {
    let summary = entry.summary.clone();
    let body = document.plain_text();
    let mut tags = summary.tags;
    for tag in knowledge::inline_tags(&body) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let language = language::of_document(&entry.metadata, &summary.path, &body);
    Page {
        facts: Facts {
            id: summary.id,
            content_type: summary.content_type,
            kind: Kind::Prose,
            title: summary.title,
            description: summary.description,
            path: summary.path,
            url: summary.url,
            commit_sha: summary.commit_sha,
            synced_at: summary.synced_at,
            group: summary.group,
            release: summary.release,
            status: summary.status,
            tags,
            date: entry.moment,
            language,
            aliases: ["aliases", "alias"].iter().flat_map(|field| entry.texts(field)).collect(),
        },
        version: entry.hash.clone(),
        about: about(entry).to_owned(),
        body,
        first_line: entry.first_line,
    }
}

/// The `description` of the frontmatter. Not the summary's: that falls back to the first paragraph, which is in the
/// body already.
fn about(entry: &Entry) -> &str {
    entry.metadata.get("description").and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// Converts a search error for the caller.
pub(crate) fn search_error(error: lyceum_search::Error) -> Error {
    use ErrorCode::{InternalError, InvalidQuery};
    match error.code() {
        InternalError => Error::internal(error),
        // The message is for the caller, whichever field the query came in.
        InvalidQuery => Error::Failed { code: InvalidQuery, message: error.to_string() },
        code => Error::Failed { code, message: error.to_string() },
    }
}
