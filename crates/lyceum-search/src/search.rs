//! The search service: pages go in, results come out.
//!
//! A folder holds three things: a database of pages, chunks and vectors, a lexical index, and a lock file. The database
//! is canonical; the lexical index and the in-memory cache are derived from it and can be rebuilt. Only the process
//! that holds the lock (the leader) writes; every process serves queries.

mod ingest;
mod opening;
mod retry;
mod status;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicI64,
    },
    time::{Duration, Instant},
};

use lyceum_net::CircuitBreaker;
use lyceum_store::{
    Db, DbError, Leader, Tx,
    events::Position,
    leases::{self, Holder, Lease},
};
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

/// How long a query waits for the index to open.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// Capacity of the query embedding cache.
const QUERY_CACHE_CAPACITY: usize = 2_000;

/// Options of a search index.
pub struct Options {
    /// Folder of the index.
    pub folder: PathBuf,
    /// The database that several machines share, and the name of the index in it; `None` for a file in the folder.
    pub shared: Option<(Db, String)>,
    /// Serialized settings of the embedding model; `None` for lexical search only.
    pub embedder: Option<String>,
    /// Creates an embedder from its settings.
    pub connect: Connect,
    /// The reranker, if any.
    pub reranker: Option<Ranking>,
}

/// A reranker and its time budget.
pub struct Ranking {
    /// The reranker.
    pub reranker: Arc<dyn lyceum_models::reranker::Reranker>,
    /// Maximum time per search.
    pub budget: Duration,
}

/// A search index.
pub struct Search {
    pub(crate) options: Options,
    opening: watch::Sender<Opening>,
    /// The leader lock, while this process holds it.
    leader: Mutex<Option<Leader>>,
    /// Why the leader lock could not be requested.
    lock_error: Mutex<Option<String>>,
    /// Circuit breaker for query embedding.
    breaker: Mutex<CircuitBreaker>,
    /// Limits concurrent queries.
    pub(crate) query_permits: Arc<Semaphore>,
    /// Serializes ingest.
    pub(crate) ingest_lock: Semaphore,
    /// Signals new chunks to the embedding queue.
    pub(crate) unembedded_chunks: Notify,
    pub(crate) model: watch::Sender<ModelStatus>,
    /// Number of chunks without a vector of the configured model.
    pub(crate) unembedded: AtomicI64,
    /// Model, event and vector at which they were last counted.
    pub(crate) unembedded_at: Mutex<Option<(i64, Position, Position)>>,
    /// Id of the configured model; 0 before it is known.
    pub(crate) target_model: AtomicI64,
    /// Cache of query embeddings, by model and text.
    pub(crate) query_vectors: Cache<(i64, String), Arc<[f32]>>,
}

/// State of opening the index.
#[derive(Clone, Default)]
enum Opening {
    #[default]
    Pending,
    Done(Arc<OpenIndex>),
    Failed(Arc<Failure>),
}

/// An open index.
pub(crate) struct OpenIndex {
    pub db: Db,
    /// Number of the index in the database.
    pub index: i64,
    /// This process, as a holder of leases.
    holder: Holder,
    /// The lease of the index, once the leader has written, and when it was renewed.
    lease: Mutex<Option<(Lease, Instant)>>,
    memory: RwLock<Memory>,
    /// `None` while it is corrupt and the leader has to rebuild it.
    lexical: RwLock<Option<Arc<Lexical>>>,
    /// Serializes updates of the in-memory cache.
    memory_lock: Mutex<()>,
    /// Serializes updates of the lexical index.
    lexical_lock: Mutex<()>,
    /// Back-off after a failure to open or write the lexical index.
    lexical_retry: Mutex<RetryState>,
    pub rerank: Option<Rerank>,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Search").field("folder", &self.options.folder).finish_non_exhaustive()
    }
}

impl Search {
    /// Creates an index that is not open yet: [`Search::keep_open`] opens it, and queries wait for that.
    pub fn new(options: Options) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        let status = if options.embedder.is_some() { ModelStatus::Preparing } else { ModelStatus::Off };
        Self {
            options,
            opening: watch::Sender::default(),
            leader: Mutex::default(),
            lock_error: Mutex::default(),
            breaker: Mutex::new(breaker()),
            query_permits: Arc::new(Semaphore::new(2 * cores)),
            ingest_lock: Semaphore::new(1),
            unembedded_chunks: Notify::new(),
            model: watch::Sender::new(status),
            unembedded: AtomicI64::default(),
            unembedded_at: Mutex::default(),
            target_model: AtomicI64::default(),
            query_vectors: Cache::new(QUERY_CACHE_CAPACITY),
        }
    }

    /// Whether an embedding model is configured.
    pub fn has_embedder(&self) -> bool {
        self.options.embedder.is_some()
    }

    /// Waits for the index to open.
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

    /// The index, if it is open now.
    pub(crate) fn opened_now(&self) -> Option<Arc<OpenIndex>> {
        match &*self.opening.borrow() {
            Opening::Done(opened) => Some(opened.clone()),
            Opening::Pending | Opening::Failed(_) => None,
        }
    }

    /// Whether this process is the leader; takes the lock if it is free.
    pub fn is_leader(&self) -> bool {
        let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if leader.is_none() {
            let taken = Leader::try_acquire(&self.options.folder);
            let fault = taken.as_ref().err().map(ToString::to_string);
            *leader = taken.unwrap_or_default();
            self.record_lock_error(fault);
        }
        leader.is_some()
    }

    /// Whether this process writes pages and vectors: the leader of the folder, and in a shared database the one of all
    /// leaders that has the lease.
    pub(crate) async fn leads(&self, opened: &OpenIndex) -> Result<bool, DbError> {
        if !self.is_leader() {
            return Ok(false);
        }
        Ok(!opened.db.is_shared() || opened.acquire().await?.is_some())
    }

    /// Whether another process writes pages and vectors, as far as this one knows.
    pub(crate) fn is_follower(&self, opened: &OpenIndex) -> bool {
        !self.is_leader() || (opened.db.is_shared() && !opened.has_lease())
    }

    /// Remembers whether the lock could be requested, and logs a new error.
    fn record_lock_error(&self, fault: Option<String>) {
        let mut known = self.lock_error.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = fault.as_ref().filter(|fault| known.as_ref() != Some(fault)) {
            tracing::error!(error.cause = %fault, "could not lock the search index; it is not updated");
        }
        *known = fault;
    }

    /// Circuit breaker for query embedding.
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

    fn lexical_retry(&self) -> MutexGuard<'_, RetryState> {
        self.lexical_retry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that queries use.
    pub(crate) fn active(&self) -> Option<ActiveModel> {
        self.memory().active().cloned()
    }

    /// Runs `work` in its own transaction, as the leader; an error if another process has taken over. Writes to the index
    /// run one after the other.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let lease = self.acquire().await?.ok_or(DbError::LeaseLost)?;
        let checked = move |tx: &Tx<'_>| {
            lease.renew(tx)?;
            work(tx)
        };
        let written = self.db.write(self.about(), checked).await;
        match &written {
            Err(DbError::LeaseLost) => *self.lease() = None,
            Ok(_) => {
                if let Some((_, renewed)) = &mut *self.lease() {
                    *renewed = Instant::now();
                }
            }
            Err(_) => {}
        }
        written
    }

    /// The lease of the index, renewed in time; `None` if another process has it.
    async fn acquire(&self) -> Result<Option<Lease>, DbError> {
        let held = self.lease().clone();
        let is_fresh = |renewed: &Instant| !self.db.is_shared() || renewed.elapsed() < leases::TTL / 3;
        if let Some((lease, _)) = held.filter(|(_, renewed)| is_fresh(renewed)) {
            return Ok(Some(lease));
        }
        let (name, holder, takeover) = (self.about(), self.holder.clone(), self.db.takeover());
        let acquire = move |tx: &Tx<'_>| leases::acquire(tx, &name, &holder, takeover);
        let acquired = self.db.write(self.about(), acquire).await?;
        *self.lease() = acquired.clone().map(|lease| (lease, Instant::now()));
        Ok(acquired)
    }

    /// Gives the lease up in a shared database, so that another process can take over at once.
    pub(crate) async fn release(&self) {
        let held = self.lease().take();
        if let Some((lease, _)) = held.filter(|_| self.db.is_shared())
            && let Err(error) = self.db.write(self.about(), move |tx| lease.release(tx)).await
        {
            tracing::debug!(error.cause = %error, "could not give up the lease of the index; it expires");
        }
    }

    /// Whether this process has the lease of the index, as far as it knows.
    pub(crate) fn has_lease(&self) -> bool {
        self.lease().is_some()
    }

    fn about(&self) -> String {
        format!("index:{}", self.index)
    }

    fn lease(&self) -> MutexGuard<'_, Option<(Lease, Instant)>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the in-memory cache from the database. Blocks the caller, not queries.
    pub(crate) fn follow(&self) -> Result<(), DbError> {
        let _turn = self.memory_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let position = self.memory().position();
        if let Some(update) = self.db.read_blocking(|tx| position.read_update(tx))? {
            let old = self.memory_mut().apply(update);
            drop(old);
        }
        Ok(())
    }

    /// Switches queries to a model. Blocks the caller, not queries.
    pub(crate) fn use_model(&self, active: &ActiveModel) -> Result<(), DbError> {
        let _turn = self.memory_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let vectors = self.db.read_blocking(|tx| self.memory().load_vectors(tx, active.clone()))?;
        let old = self.memory_mut().use_vectors(vectors);
        drop(old);
        Ok(())
    }
}
