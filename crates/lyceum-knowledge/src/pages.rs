//! The knowledge base as search takes it: kept searched as it is shown, in every process that leads the index.

use std::{
    collections::HashMap,
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};

use lyceum_content::knowledge::Entry;
use lyceum_model::ErrorCode;
use lyceum_net::Backoff;
use lyceum_search::{Facts, Kind, Page, Plan, Search};
use lyceum_tools::Error;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{CatalogSnapshot, Document, Knowledge, search_request::is_of_skills};

/// How many documents are read before they are handed on: a few at first, so that there soon is something to find, then
/// more, since what is handed on together costs less. And how many bytes of them.
const FIRST_BATCH_DOCUMENTS: usize = 200;
const BATCH_DOCUMENTS: usize = 1_000;
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// How long a question waits for the first documents to be indexed.
const FIRST_INDEX_TIMEOUT: Duration = Duration::from_secs(5);

/// How long after a failure it is tried again.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(2), max: Duration::from_secs(60) };

impl Knowledge {
    /// Keeps search up with what is shown, until it is told to stop.
    pub async fn keep_searched(self: Arc<Self>, search: Arc<Search>, stop: CancellationToken) {
        let mut state = self.state();
        let work = async {
            let mut failures = 0;
            loop {
                let snapshot = state.borrow_and_update().snapshot.clone();
                let span = tracing::error_span!("index", source.name = %self.options.name);
                let done = self.ingest_snapshot(&search, &snapshot).instrument(span.clone()).await;
                match &done {
                    Ok(is_whole) => {
                        self.searched.send_replace(snapshot.version.is_some());
                        if *is_whole {
                            *self.searched_last() = Some(snapshot.clone());
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

    /// Whether everything that is shown at this moment can be found: what a sync brings in is shown a moment before.
    pub fn is_searched(&self) -> bool {
        let snapshot = self.snapshot();
        snapshot.version.is_none()
            || self.searched_last().as_ref().is_some_and(|last| Arc::ptr_eq(last, &snapshot))
    }

    fn searched_last(&self) -> MutexGuard<'_, Option<Arc<CatalogSnapshot>>> {
        self.searched_last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has what is shown searched, and says whether it is; it may be another process's business.
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
            search.plan(name, wanted, |key| !is_of_skills(key)).await.map_err(failed)?;
        if !gone.is_empty() && !search.apply(name, Vec::new(), gone).await.map_err(failed)? {
            return Ok(false);
        }
        let mut unread = 0_usize;
        let mut keys = read.iter().peekable();
        let mut most = FIRST_BATCH_DOCUMENTS;
        while keys.peek().is_some() {
            let (mut pages, mut bytes) = (Vec::with_capacity(most), 0);
            for key in keys.by_ref().take(most) {
                let entry = key.split_once('/').and_then(|(kind, id)| snapshot.catalog.get(kind, id));
                let Some(entry) = entry else { continue };
                match self.document_aside(entry).await {
                    Ok(document) => {
                        bytes += document.content.len();
                        pages.push(page(entry, document));
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
            if !search.apply(name, pages, Vec::new()).await.map_err(failed)? {
                return Ok(false);
            }
            most = BATCH_DOCUMENTS;
        }
        self.searched.send_replace(true);
        if unread > 0 {
            let message = format!("{unread} documents could not be read for the index");
            return Err(Error::Failed { code: ErrorCode::UpstreamError, message });
        }
        Ok(true)
    }

    /// Waits until the first synced documents can be found, so that the first question is not answered with nothing; but
    /// not for long, for another process may be the one that has it searched.
    pub(crate) async fn until_searched(&self) {
        let mut searched = self.searched.subscribe();
        let _settled =
            tokio::time::timeout(FIRST_INDEX_TIMEOUT, searched.wait_for(|searched| *searched)).await.is_ok();
    }
}

/// A document as search takes it.
fn page(entry: &Entry, document: Document) -> Page {
    let summary = entry.summary.clone();
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
            tags: summary.tags,
            date: entry.moment,
        },
        version: entry.hash.clone(),
        about: about(entry).to_owned(),
        body: document.content,
        first_line: entry.first_line,
    }
}

/// What a document says of itself in its frontmatter. Without that its description is how its text begins.
fn about(entry: &Entry) -> &str {
    entry.metadata.get("description").and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// What a caller is told when search fails.
pub(crate) fn failed(error: lyceum_search::Error) -> Error {
    use ErrorCode::{InternalError, InvalidQuery};
    match error.code() {
        InternalError => Error::internal(error),
        // The words of a query are for whoever asked, whatever field they came in.
        InvalidQuery => Error::Failed { code: InvalidQuery, message: error.to_string() },
        code => Error::Failed { code, message: error.to_string() },
    }
}
