//! The knowledge service: the state that tools and transports work on.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use lyceum_content::{document::Publishing, ontology::Ontology};
use lyceum_model::{ErrorCode, RelPath, SourceName};
use lyceum_source::Source;
use lyceum_store::{
    Db, DbError, Leader, Objects, PageSize, Tx, documents,
    leases::{self, Holder, Lease},
};
use lyceum_tools::Error;
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::{Notify, Semaphore, watch};

use crate::{CatalogSnapshot, DraftOptions, PublicContent, SyncError, catalog::CatalogKey, plan};

/// Size of the document cache, in bytes.
const CACHE_BYTES: u64 = 24 * 1024 * 1024;

/// Estimated number of cached documents.
const CACHE_ITEMS: usize = 4_000;

/// Version of the stored form of documents. Increment it to have every file read again.
const READER_VERSION: u32 = 3;

/// How long a call waits for the first sync, such as for the first clone of a repository.
const FIRST_SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// Options of the service.
#[derive(Debug)]
pub struct Options {
    /// The name of the source in the configuration.
    pub name: SourceName,
    /// The source of the documents.
    pub source: Source,
    /// The content types.
    pub ontology: Ontology,
    /// Fingerprint of the ontology and the other rules; if it changes, every file is read again.
    pub rules: String,
    /// Which documents are published; `None` to recognise it from the source.
    pub publish: Option<Publishing>,
    /// Excluded folders.
    pub exclude: Vec<RelPath>,
    /// Link template of the source's files.
    pub links: Links,
    /// Polling interval of a repository.
    pub poll: Duration,
    /// Display name of the knowledge base, such as `SuperBenefit`.
    pub title: String,
    /// What is public.
    pub public: PublicContent,
    /// The data folder: database, lock file and, if they are local, the objects.
    pub folder: PathBuf,
    /// The object store of the documents.
    pub objects: Objects,
    /// The database that several machines share, and the name of the knowledge base in it; `None` for a file in the folder.
    pub shared: Option<(Db, String)>,
    /// Where drafts go; `None` if there are none.
    pub drafts: Option<DraftOptions>,
}

impl Options {
    /// What its rows in the database are found by.
    pub(crate) fn key(&self) -> String {
        match &self.shared {
            Some((_, name)) => name.clone(),
            None => self.name.to_string(),
        }
    }

    /// What writes to the database are about: those about one source run one after the other.
    pub(crate) fn about(&self) -> String {
        format!("source:{}", self.key())
    }

    /// The job queue of uploads: key of an object, and the hash of its content; an empty hash deletes it.
    pub(crate) fn queue(&self) -> String {
        format!("objects:{}", self.key())
    }

    /// The job queue of drafts: the id of each.
    pub(crate) fn draft_queue(&self) -> String {
        format!("drafts:{}", self.key())
    }

    /// What to load from the database.
    pub(crate) fn catalog_key(&self) -> CatalogKey {
        CatalogKey { source: self.key(), rules: self.rules.clone(), links: self.links.clone() }
    }
}

/// Web link template of a source's files, with `{commit}` and `{path}`; `None` without links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links(pub Option<String>);

impl Links {
    /// The link to a file at a commit; `None` for files that are of no commit.
    pub fn to(&self, version: &str, path: &RelPath) -> Option<String> {
        let template = self.0.as_ref().filter(|_| !is_uncommitted(version))?;
        let path = lyceum_source::encode_path(path.as_str());
        Some(template.replace("{commit}", version).replace("{path}", &path))
    }
}

/// Whether a version is a hash of files that are of no commit.
pub(crate) fn is_uncommitted(version: &str) -> bool {
    version.starts_with("tree-")
}

/// The service.
#[derive(Debug)]
pub struct Knowledge {
    pub(crate) options: Options,
    pub(crate) db: Db,
    state: watch::Sender<State>,
    /// One update of the catalog at a time.
    updating: Semaphore,
    /// One sync at a time.
    pub(crate) syncing: Semaphore,
    /// Held while this process is the leader of the data folder.
    leader: Mutex<Option<Leader>>,
    /// This process, as a holder of leases.
    holder: Holder,
    /// The lease of the source, and when it was renewed.
    lease: Mutex<Option<(Lease, Instant)>>,
    /// A sync was requested.
    pub(crate) sync_requested: Notify,
    /// New events are in the database.
    pub(crate) events_written: Notify,
    /// Objects are pending upload.
    pub(crate) upload_pending: Notify,
    /// A draft is queued.
    pub(crate) draft_queued: Notify,
    /// Changes whenever the progress of a draft is recorded.
    pub(crate) draft_progress: watch::Sender<u64>,
    /// When the states of open pull requests were last read.
    pub(crate) last_draft_check: Mutex<Option<Instant>>,
    /// Whether this process has synced, or left it to another.
    pub(crate) first_sync: watch::Sender<bool>,
    /// Whether a first snapshot was indexed.
    pub(crate) indexed: watch::Sender<bool>,
    /// The last snapshot that was indexed completely.
    pub(crate) last_indexed: Mutex<Option<Arc<CatalogSnapshot>>>,
    pub(crate) cache: Cache<String, Arc<[u8]>, ByLength>,
    /// When a repair was last requested.
    pub(crate) last_repair: Mutex<Option<Instant>>,
}

/// The current snapshot, and the last error.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The current snapshot.
    pub snapshot: Arc<CatalogSnapshot>,
    /// Why the last sync failed, if it did.
    pub error: Option<String>,
}

/// Why the service can't start. The message is for the operator.
#[derive(Debug, thiserror::Error)]
#[error("the knowledge base can't be opened")]
pub struct OpenError(#[from] DbError);

#[derive(Debug, Clone)]
pub(crate) struct ByLength;

impl Weighter<String, Arc<[u8]>> for ByLength {
    fn weight(&self, key: &String, bytes: &Arc<[u8]>) -> u64 {
        u64::try_from(key.len() + bytes.len()).unwrap_or(u64::MAX).max(1)
    }
}

impl Knowledge {
    /// Opens the database and loads the catalog. Blocks.
    pub fn open(mut options: Options) -> Result<Self, OpenError> {
        options.rules = format!("{READER_VERSION}\n{}", options.rules);
        let file = options.folder.join("lyceum.db");
        let load = |db: Db| {
            let snapshot = db.read_blocking(|tx| CatalogSnapshot::load(tx, &options.catalog_key()))?;
            Ok((db, snapshot))
        };
        let mut leader = None;
        let shared = options.shared.as_ref().map(|(db, _)| db.clone());
        let is_file = shared.is_none();
        std::fs::create_dir_all(&options.folder).map_err(DbError::Folder)?;
        let (db, snapshot) = match shared
            .map_or_else(|| Db::open_with(&file, PageSize::Large), Ok)
            .and_then(load)
        {
            Err(damage @ (DbError::Corrupt(_) | DbError::MarkedCorrupt | DbError::Content(_))) if is_file => {
                // Only the leader may replace the database: other processes would keep using the old one.
                leader = Leader::try_acquire(&options.folder).map_err(DbError::Folder)?;
                leader.as_ref().ok_or(damage)?;
                Db::recreate(&file, PageSize::Large).and_then(load)?
            }
            opened => opened?,
        };
        Ok(Self {
            options,
            db,
            state: watch::Sender::new(State { snapshot: Arc::new(snapshot), error: None }),
            updating: Semaphore::new(1),
            syncing: Semaphore::new(1),
            leader: Mutex::new(leader),
            holder: Holder::random()?,
            lease: Mutex::default(),
            sync_requested: Notify::new(),
            events_written: Notify::new(),
            upload_pending: Notify::new(),
            draft_queued: Notify::new(),
            draft_progress: watch::Sender::new(0),
            last_draft_check: Mutex::default(),
            first_sync: watch::Sender::new(false),
            indexed: watch::Sender::new(false),
            last_indexed: Mutex::default(),
            cache: Cache::with_weighter(CACHE_ITEMS, CACHE_BYTES, ByLength),
            last_repair: Mutex::default(),
        })
    }

    /// The current state.
    pub fn current_state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Subscribes to the state.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// The current snapshot.
    pub fn snapshot(&self) -> Arc<CatalogSnapshot> {
        self.state.borrow().snapshot.clone()
    }

    /// The current snapshot; waits for the first sync.
    pub async fn ready(&self) -> Result<Arc<CatalogSnapshot>, Error> {
        let mut state = self.state();
        let settled = state.wait_for(|state| state.snapshot.version.is_some() || state.error.is_some());
        // The result holds a lock on the state; drop it before borrowing the state.
        let _settled = tokio::time::timeout(FIRST_SYNC_TIMEOUT, settled).await.is_ok();
        let State { snapshot, error } = self.state.borrow().clone();
        if snapshot.version.is_some() {
            return Ok(snapshot);
        }
        let message = match error {
            Some(error) => format!("the knowledge base can't be read: {error}"),
            None => "the knowledge base is still being fetched; try again in a minute".to_owned(),
        };
        Err(Error::Failed { code: ErrorCode::Unavailable, message })
    }

    /// Waits until this process has synced for the first time, successfully or not, or has left it to another.
    pub async fn until_synced(&self) {
        // Fails only if the sender is gone, and it is in `self`.
        let _synced = self.first_sync.subscribe().wait_for(|is_synced| *is_synced).await.is_ok();
    }

    /// The name of the source in the configuration.
    pub fn source_name(&self) -> &SourceName {
        &self.options.name
    }

    /// The source of the documents.
    pub fn source(&self) -> &Source {
        &self.options.source
    }

    /// The content types.
    pub fn ontology(&self) -> &Ontology {
        &self.options.ontology
    }

    /// Display name of the knowledge base.
    pub fn title(&self) -> &str {
        &self.options.title
    }

    /// The lease of the source, if this process is the leader; tries to become it, and renews the lease.
    pub(crate) async fn lead(&self) -> Result<Option<Lease>, SyncError> {
        {
            let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
            if leader.is_none() {
                *leader = Leader::try_acquire(&self.options.folder)?;
            }
            if leader.is_none() {
                return Ok(None);
            }
        }
        let held = self.lease().clone();
        let is_fresh = |renewed: &Instant| !self.db.is_shared() || renewed.elapsed() < leases::TTL / 3;
        if let Some((lease, _)) = held.filter(|(_, renewed)| is_fresh(renewed)) {
            return Ok(Some(lease));
        }
        let (name, holder, takeover) = (self.options.about(), self.holder.clone(), self.db.takeover());
        let acquire = move |tx: &Tx<'_>| leases::acquire(tx, &name, &holder, takeover);
        let acquired = self.db.write(self.options.about(), acquire).await?;
        *self.lease() = acquired.clone().map(|lease| (lease, Instant::now()));
        Ok(acquired)
    }

    /// Forgets the lease after another process has taken over.
    pub(crate) fn forget_lease(&self) {
        *self.lease() = None;
    }

    fn lease(&self) -> MutexGuard<'_, Option<(Lease, Instant)>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the catalog from the event log; returns whether it changed.
    pub(crate) async fn update_catalog(&self) -> Result<bool, DbError> {
        let Ok(_permit) = self.updating.acquire().await else { return Ok(false) };
        let before = self.snapshot();
        let key = self.options.catalog_key();
        let next = self.db.read(move |tx| before.next(tx, &key)).await?;
        let Some(next) = next else { return Ok(false) };
        self.state.send_modify(|state| state.snapshot = Arc::new(next));
        Ok(true)
    }

    /// Records the outcome of the last sync.
    pub(crate) fn set_error(&self, error: Option<String>) {
        self.state.send_if_modified(|state| {
            let is_new = state.error != error;
            state.error = error;
            is_new
        });
    }

    /// Number of objects pending upload, and failed uploads.
    pub async fn pending_objects(&self) -> Result<(i64, Vec<lyceum_store::jobs::Failure>), Error> {
        let queue = self.options.queue();
        let read = self.db.read(move |tx| {
            let count = lyceum_store::jobs::count(tx, &queue)?;
            Ok((count, lyceum_store::jobs::failures(tx, &queue, 20)?))
        });
        read.await.map_err(db_error)
    }

    /// All files of the source with their state.
    pub async fn files(&self) -> Result<Vec<documents::FileRow>, Error> {
        let name = self.options.key();
        self.db.read(move |tx| documents::files(tx, &name)).await.map_err(db_error)
    }

    /// Whether the configuration excludes a file.
    pub fn excludes(&self, path: &str) -> bool {
        RelPath::parse(path).is_ok_and(|path| plan::excluded_by(&path, &self.options.exclude).is_some())
    }

    /// Number of files of the source that are no documents, by extension. `None` if the source can't be read.
    pub async fn other_files(&self) -> Option<BTreeMap<String, usize>> {
        let (source, exclude) = (self.options.source.clone(), self.options.exclude.clone());
        let count = move || Some(plan::other_files(&source.local().ok()??, &exclude));
        tokio::task::spawn_blocking(count).await.ok()?
    }

    /// The current time in milliseconds, as it is stored, so that a document and its entry agree.
    pub(crate) fn now() -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

/// Converts a database error for the caller.
pub(crate) fn db_error(error: DbError) -> Error {
    match error.code() {
        ErrorCode::Unavailable => Error::Failed { code: ErrorCode::Unavailable, message: error.to_string() },
        _ => Error::internal(error),
    }
}
