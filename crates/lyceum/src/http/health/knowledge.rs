//! How the knowledge base is: what is served of it, and what is not yet where it belongs.

use jiff::Timestamp;
use lyceum_knowledge::{Counts, Knowledge, Shown, State};
use lyceum_store::jobs::Failure;
use serde::Serialize;

/// How the knowledge base is.
#[derive(Serialize)]
pub(super) struct KnowledgeHealth {
    /// How many documents are served.
    documents: usize,
    /// How many files of the source are in which state.
    files: Counts,
    /// How many objects are not yet where they belong; nothing if the database does not say.
    unshelved: Option<i64>,
    /// Those of them that failed, as far as they belong to what is served.
    failed: Vec<Failed>,
    #[serde(skip)]
    pub(super) is_well: bool,
}

/// An object that could not be put where it belongs. Why is in the log: the reason may name places of this machine.
#[derive(Serialize)]
struct Failed {
    key: String,
    attempts: i64,
    /// When it is tried again; nothing if only the next change or start will.
    again_at: Option<Timestamp>,
}

/// Its health, by what is served and what the database says.
pub(super) fn look(state: &State, unshelved: Option<(i64, Vec<Failure>)>) -> KnowledgeHealth {
    let State { shown, error } = state;
    let (unshelved, failures) = match unshelved {
        Some((count, failures)) => (Some(count), failures),
        None => (None, Vec::new()),
    };
    KnowledgeHealth {
        documents: shown.catalog.entries().len(),
        files: shown.files,
        unshelved,
        is_well: shown.version.is_some() && error.is_none() && unshelved.is_some() && failures.is_empty(),
        failed: failures.into_iter().filter(|one| is_served(shown, &one.key)).map(failed).collect(),
    }
}

/// Why requests should not be sent here yet, if they should not.
pub(super) fn reason_to_wait(knowledge: &Knowledge) -> Option<String> {
    let State { shown, error } = knowledge.state().borrow().clone();
    match (&shown.version, error) {
        (Some(_), _) => None,
        (None, Some(error)) => Some(format!("the knowledge base can't be read: {error}")),
        (None, None) => Some("the knowledge base is being fetched".to_owned()),
    }
}

fn failed(failure: Failure) -> Failed {
    Failed { key: failure.key, attempts: failure.attempts, again_at: failure.due }
}

/// Whether a key belongs to what is served: the name of what was taken back is nobody's business.
fn is_served(shown: &Shown, key: &str) -> bool {
    shown.catalog.entries().iter().any(|entry| {
        let of_content = || key.strip_prefix("content/")?.strip_suffix(".json");
        let of_raw = || key.strip_prefix("raw/");
        of_content() == Some(&entry.key()) || of_raw() == Some(&entry.summary.path)
    })
}
