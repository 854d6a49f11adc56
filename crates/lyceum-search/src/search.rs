//! Search, as other services use it: pages go in, answers come out.
//!
//! Three things are kept below one folder: a database of pages, chunks and vectors, an index by words, and a lock. The
//! database is what counts; the index by words and what is in memory follow it, and can be made again of it. One process
//! at a time writes, the one that holds the lock; every process answers.

mod ingest;
mod opening;
mod retry;
mod status;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicI64,
    },
    time::Duration,
};

use lyceum_net::CircuitBreaker;
use lyceum_store::{Db, DbError, Leader};
use quick_cache::sync::Cache;
use tokio::sync::{Notify, Semaphore, watch};

use crate::{
    breaker::breaker,
    embed_queue::{Connect, ModelStatus},
    error::Error,
    failure::Failure,
    lexical::Lexical,
    memory::{ActiveModel, Memory},
    rerank::Rerank,
};

use retry::RetryState;

pub use ingest::Plan;
pub(crate) use ingest::passage;
pub use opening::discard;
pub use status::{State, Status};

/// How long a question waits for the index to be opened.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// How many questions are remembered with their vectors.
const QUERY_CACHE_CAPACITY: usize = 2_000;

/// What a search is made of.
pub struct Options {
    /// Where its files are.
    pub folder: PathBuf,
    /// How the model is had, as it is kept in the index; nothing for words only.
    pub embedder: Option<String>,
    /// What sets a model up.
    pub connect: Connect,
    /// What orders the best candidates once more.
    pub reranker: Option<Ranking>,
}

/// A reranker and how long it may take.
pub struct Ranking {
    /// The reranker.
    pub reranker: Arc<dyn lyceum_models::reranker::Reranker>,
    /// How long a search waits for it.
    pub budget: Duration,
}

/// Search.
pub struct Search {
    pub(crate) options: Options,
    opening: watch::Sender<Opening>,
    /// Held while this process is the one that writes.
    leader: Mutex<Option<Leader>>,
    /// Why the lock can't even be asked for.
    unlockable: Mutex<Option<String>>,
    /// How the model that questions are asked with has been doing.
    breaker: Mutex<CircuitBreaker>,
    /// So many questions are looked at, at once.
    pub(crate) looking: Arc<Semaphore>,
    /// One change at a time.
    pub(crate) changing: Semaphore,
    /// Chunks wait for their vectors.
    pub(crate) unembedded_chunks: Notify,
    pub(crate) model: watch::Sender<ModelStatus>,
    /// How many chunks have no vector yet, as far as this process makes them.
    pub(crate) unembedded: AtomicI64,
    /// The number of the model that is wanted; 0 before it is known.
    pub(crate) wanted: AtomicI64,
    /// The vectors of questions that were asked before, by the model and the question.
    pub(crate) query_vectors: Cache<(i64, String), Arc<[f32]>>,
}

/// Whether there is anything to search in.
#[derive(Clone, Default)]
enum Opening {
    #[default]
    Pending,
    Done(Arc<OpenIndex>),
    Failed(Arc<Failure>),
}

/// What is open once it is.
pub(crate) struct OpenIndex {
    pub db: Db,
    memory: RwLock<Memory>,
    /// Nothing while it is damaged and somebody else has to make it again.
    lexical: RwLock<Option<Arc<Lexical>>>,
    /// Held by who brings memory up to the database.
    following: Mutex<()>,
    /// Held by who brings the index by words up to the database.
    catching_up: Mutex<()>,
    /// When the index by words is opened or written again, where that failed.
    words_again: Mutex<RetryState>,
    pub rerank: Option<Rerank>,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Search").field("folder", &self.options.folder).finish_non_exhaustive()
    }
}

impl Search {
    /// A search that is not open yet: [`Search::keep_open`] opens it, and questions wait for that.
    pub fn new(options: Options) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        let status = if options.embedder.is_some() { ModelStatus::Preparing } else { ModelStatus::Off };
        Self {
            options,
            opening: watch::Sender::default(),
            leader: Mutex::default(),
            unlockable: Mutex::default(),
            breaker: Mutex::new(breaker()),
            looking: Arc::new(Semaphore::new(2 * cores)),
            changing: Semaphore::new(1),
            unembedded_chunks: Notify::new(),
            model: watch::Sender::new(status),
            unembedded: AtomicI64::default(),
            wanted: AtomicI64::default(),
            query_vectors: Cache::new(QUERY_CACHE_CAPACITY),
        }
    }

    /// What is open, once it is.
    pub(crate) async fn opened(&self) -> Result<Arc<OpenIndex>, Error> {
        let mut opening = self.opening.subscribe();
        let settled = opening.wait_for(|opening| !matches!(opening, Opening::Pending));
        let settled = tokio::time::timeout(OPEN_TIMEOUT, settled).await;
        match settled.map(|settled| settled.map(|opening| opening.clone())) {
            Ok(Ok(Opening::Done(opened))) => Ok(opened),
            Ok(Ok(Opening::Failed(failure))) => Err(Error::Closed(failure.reason.clone())),
            Ok(Ok(Opening::Pending) | Err(_)) | Err(_) => Err(Error::NotReady),
        }
    }

    /// What is open at this moment.
    pub(crate) fn opened_now(&self) -> Option<Arc<OpenIndex>> {
        match &*self.opening.borrow() {
            Opening::Done(opened) => Some(opened.clone()),
            Opening::Pending | Opening::Failed(_) => None,
        }
    }

    /// Whether this process is the one that writes; takes the place if it is free.
    pub(crate) fn leads(&self) -> bool {
        let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if leader.is_none() {
            let taken = Leader::try_take(&self.options.folder);
            let fault = taken.as_ref().err().map(ToString::to_string);
            *leader = taken.unwrap_or_default();
            self.note_lock(fault);
        }
        leader.is_some()
    }

    /// Remembers whether the lock could be asked for, and logs what is new of that.
    fn note_lock(&self, fault: Option<String>) {
        let mut known = self.unlockable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = fault.as_ref().filter(|fault| known.as_ref() != Some(fault)) {
            tracing::error!(error.cause = %fault, "could not lock the search index; it is not updated");
        }
        *known = fault;
    }

    /// How the model that questions are asked with has been doing.
    pub(crate) fn breaker(&self) -> MutexGuard<'_, CircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenIndex {
    pub(crate) fn memory(&self) -> RwLockReadGuard<'_, Memory> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn memory_mut(&self) -> RwLockWriteGuard<'_, Memory> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lexical(&self) -> Option<Arc<Lexical>> {
        self.lexical.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_lexical(&self, lexical: Option<Arc<Lexical>>) {
        *self.lexical.write().unwrap_or_else(PoisonError::into_inner) = lexical;
    }

    fn words_again(&self) -> MutexGuard<'_, RetryState> {
        self.words_again.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that searches use.
    pub(crate) fn active(&self) -> Option<ActiveModel> {
        self.memory().active().cloned()
    }

    /// Brings memory up to the database. Blocks, but no question waits for it.
    pub(crate) fn follow(&self) -> Result<(), DbError> {
        let _turn = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        let reached = self.memory().reached();
        if let Some(news) = self.db.read_here(|tx| reached.news(tx))? {
            let before = self.memory_mut().take_in(news);
            drop(before);
        }
        Ok(())
    }

    /// Answers are found with this model from now on. Blocks, but no question waits for it.
    pub(crate) fn use_model(&self, active: ActiveModel) -> Result<(), DbError> {
        let _turn = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        let meaning = self.db.read_here(|tx| self.memory().meaning(tx, active))?;
        let before = self.memory_mut().use_meaning(meaning);
        drop(before);
        Ok(())
    }
}
