//! The numbers of `/health` that only a database knows, read at most once a second however many ask.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lyceum_knowledge::{Knowledge, Shown};
use lyceum_search::{Search, Status};
use lyceum_store::jobs::Failure;
use tokio::sync::Mutex;

use crate::{app::App, patience::within};

/// How old the numbers may be.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// How long a database may take to say what it has.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// The numbers of a moment ago.
#[derive(Debug, Default)]
pub(crate) struct HealthNumbers(Mutex<Option<Kept>>);

#[derive(Debug)]
struct Kept {
    read: Instant,
    /// What was shown then: numbers of another state say nothing of this one.
    shown: Option<Arc<Shown>>,
    /// Whether all of it could be found.
    is_searched: bool,
    numbers: Numbers,
}

/// What the databases say.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    /// How far the index is; nothing if it does not say.
    pub(super) search: Option<Status>,
    /// How many objects are not yet where they belong, and those that failed; nothing if the database does not say.
    pub(super) unshelved: Option<(i64, Vec<Failure>)>,
}

impl HealthNumbers {
    /// The numbers for what is shown, at most a second old.
    pub(super) async fn of(&self, app: &App, shown: Option<&Arc<Shown>>) -> Numbers {
        let is_searched = app.knowledge.as_ref().is_none_or(|knowledge| knowledge.is_searched());
        // Whoever asks at the same time waits for the one answer, which has a limit.
        let mut kept = self.0.lock().await;
        let is_same = |kept: &&Kept| match (&kept.shown, shown) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        let is_fresh = |kept: &&Kept| kept.read.elapsed() < GOOD_FOR && kept.is_searched == is_searched;
        if let Some(kept) = kept.as_ref().filter(is_fresh).filter(is_same) {
            return kept.numbers.clone();
        }
        let numbers = Numbers {
            search: status(app.search.as_deref()).await,
            unshelved: unshelved(app.knowledge.as_deref()).await,
        };
        let (read, shown) = (Instant::now(), shown.cloned());
        *kept = Some(Kept { read, shown, is_searched, numbers: numbers.clone() });
        numbers
    }
}

async fn status(search: Option<&Search>) -> Option<Status> {
    within(ANSWERS_WITHIN, search?.status()).await.ok()?.ok()
}

async fn unshelved(knowledge: Option<&Knowledge>) -> Option<(i64, Vec<Failure>)> {
    within(ANSWERS_WITHIN, knowledge?.unshelved()).await.ok()?.ok()
}
