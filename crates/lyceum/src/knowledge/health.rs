//! Health of a knowledge base: documents served and objects pending upload.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_content::document::Publishing;
use lyceum_knowledge::{CatalogSnapshot, Counts, Knowledge, State};
use lyceum_store::jobs::Failure;
use serde::Serialize;

use crate::{deadline::within, service::Health};

/// Timeout of the database query.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// Number of objects pending upload, and failed uploads.
pub(super) type Pending = (i64, Vec<Failure>);

/// Queries the database; `None` if it does not answer.
pub(super) async fn pending(knowledge: &Knowledge) -> Option<Pending> {
    within(HEALTH_TIMEOUT, knowledge.pending_objects()).await.ok()?.ok()
}

/// Health of the knowledge base.
#[derive(Serialize)]
struct Detail {
    /// Number of documents served.
    documents: usize,
    /// Number of files, by state.
    files: Counts,
    /// Which documents are published: `all` or `frontmatter`; `None` before the first sync.
    publishing: Option<&'static str>,
    /// Why nothing is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// Number of objects pending upload; `None` if the database does not answer.
    pending_objects: Option<i64>,
    /// Failed uploads of served documents.
    failed: Vec<FailedUpload>,
}

/// A failed upload. The reason is in the log only, because it may contain local paths.
#[derive(Serialize)]
struct FailedUpload {
    key: String,
    attempts: i64,
    /// Time of the next attempt; `None` if only the next change or start retries it.
    again_at: Option<Timestamp>,
}

/// Computes the health from the snapshot and the database.
pub(super) fn of(state: &State, pending: Option<Pending>) -> Health {
    let State { snapshot, error } = state;
    let (pending_objects, failures) =
        pending.map_or((None, Vec::new()), |(count, failures)| (Some(count), failures));
    let is_well =
        snapshot.version.is_some() && error.is_none() && pending_objects.is_some() && failures.is_empty();
    let waiting_for = match (&snapshot.version, error) {
        (Some(_), _) => None,
        (None, Some(error)) => Some(format!("the knowledge base can't be read: {error}")),
        (None, None) => Some("the knowledge base is being fetched".to_owned()),
    };
    let detail = Detail {
        documents: snapshot.catalog.entries().len(),
        files: snapshot.files,
        publishing: snapshot.publishing.map(Publishing::as_str),
        warning: snapshot.nothing_published(),
        pending_objects,
        failed: failures.into_iter().filter(|one| is_served(snapshot, &one.key)).map(failed).collect(),
    };
    let pending = pending_objects.map(|count| ("objects", count)).into_iter().collect();
    Health { is_well, waiting_for, detail: serde_json::to_value(detail).ok(), pending, ..Health::default() }
}

fn failed(failure: Failure) -> FailedUpload {
    FailedUpload { key: failure.key, attempts: failure.attempts, again_at: failure.due }
}

/// Whether a key belongs to a served document: names of removed documents must not leak.
fn is_served(snapshot: &CatalogSnapshot, key: &str) -> bool {
    snapshot.catalog.entries().iter().any(|entry| {
        let of_content = || key.strip_prefix("content/")?.strip_suffix(".json");
        let of_raw = || key.strip_prefix("raw/");
        of_content() == Some(&entry.key()) || of_raw() == Some(&entry.summary.path)
    })
}
