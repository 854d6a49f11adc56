//! How the knowledge base is: what is served of it, and what is not yet where it belongs.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_knowledge::{CatalogSnapshot, Counts, Knowledge, State};
use lyceum_store::jobs::Failure;
use serde::Serialize;

use crate::{deadline::within, service::Health};

/// How long the database may take to say what it has.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// How many objects are not yet where they belong, and those that failed.
pub(super) type Pending = (i64, Vec<Failure>);

/// What the database says of them; nothing if it does not answer.
pub(super) async fn pending(knowledge: &Knowledge) -> Option<Pending> {
    within(HEALTH_TIMEOUT, knowledge.pending_objects()).await.ok()?.ok()
}

/// How the knowledge base is.
#[derive(Serialize)]
struct Detail {
    /// How many documents are served.
    documents: usize,
    /// How many files of the source are in which state.
    files: Counts,
    /// How many objects are not yet where they belong; nothing if the database does not say.
    pending_objects: Option<i64>,
    /// Those of them that failed, as far as they belong to what is served.
    failed: Vec<FailedUpload>,
}

/// An object that could not be put where it belongs. Why is in the log: the reason may name places of this machine.
#[derive(Serialize)]
struct FailedUpload {
    key: String,
    attempts: i64,
    /// When it is tried again; nothing if only the next change or start will.
    again_at: Option<Timestamp>,
}

/// Its health, by what is served and what the database says.
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
        pending_objects,
        failed: failures.into_iter().filter(|one| is_served(snapshot, &one.key)).map(failed).collect(),
    };
    Health { is_well, waiting_for, detail: serde_json::to_value(detail).ok(), ..Health::default() }
}

fn failed(failure: Failure) -> FailedUpload {
    FailedUpload { key: failure.key, attempts: failure.attempts, again_at: failure.due }
}

/// Whether a key belongs to what is served: the name of what was taken back is nobody's business.
fn is_served(snapshot: &CatalogSnapshot, key: &str) -> bool {
    snapshot.catalog.entries().iter().any(|entry| {
        let of_content = || key.strip_prefix("content/")?.strip_suffix(".json");
        let of_raw = || key.strip_prefix("raw/");
        of_content() == Some(&entry.key()) || of_raw() == Some(&entry.summary.path)
    })
}
