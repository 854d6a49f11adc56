//! The knowledge service: what its tools and doors work on.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use lyceum_content::ontology::Ontology;
use lyceum_model::{ErrorCode, RelPath, SourceName};
use lyceum_source::Source;
use lyceum_store::{Db, DbError, Leader, Objects, documents};
use lyceum_tools::Error;
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::{Notify, Semaphore, watch};

use crate::{CatalogSnapshot, catalog::CatalogKey};

/// How many bytes of documents are held in memory.
const CACHE_BYTES: u64 = 24 * 1024 * 1024;

/// About how many documents that is.
const CACHE_ITEMS: usize = 4_000;

/// With another number every file is read again: what is written down of a document changed.
const READER_VERSION: u32 = 2;

/// How long a call waits for the first sync, such as for the first clone of a repository.
const FIRST_SYNC_TIMEOUT: Duration = Duration::from_secs(60);

/// What the service is made of.
#[derive(Debug)]
pub struct Options {
    /// The name of the source in the configuration.
    pub name: SourceName,
    /// Where the documents come from.
    pub source: Source,
    /// The types of documents.
    pub ontology: Ontology,
    /// Stands for the ontology and the other rules: with others, every file is read again.
    pub rules: String,
    /// Folders that are left out.
    pub exclude: Vec<RelPath>,
    /// How the web shows a file of the source.
    pub links: Links,
    /// How long between two questions for news of a repository.
    pub poll: Duration,
    /// Who the knowledge base belongs to, as people read it, such as `SuperBenefit`.
    pub title: String,
    /// Who may read whole documents.
    pub readers: Readers,
    /// The folder for the database, the lock and, where they are on this machine, the objects.
    pub folder: PathBuf,
    /// Where the documents are kept.
    pub objects: Objects,
}

impl Options {
    /// What is looked for in the database.
    pub(crate) fn catalog_key(&self) -> CatalogKey {
        CatalogKey { source: self.name.to_string(), rules: self.rules.clone(), links: self.links.clone() }
    }
}

/// Who may read whole documents, wherever that is not a tool for members anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Everyone who may read what is public.
    Everyone,
    /// Members, by the scope `knowledge:read`.
    Members,
}

/// How the web shows a file of a source: a text with `{commit}` and `{path}` in it, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links(pub Option<String>);

impl Links {
    /// The address of a file at a commit.
    pub fn to(&self, version: &str, path: &RelPath) -> Option<String> {
        let template = self.0.as_ref()?;
        let path = lyceum_source::in_address(path.as_str());
        Some(template.replace("{commit}", version).replace("{path}", &path))
    }
}

/// The service.
#[derive(Debug)]
pub struct Knowledge {
    pub(crate) options: Options,
    pub(crate) db: Db,
    state: watch::Sender<State>,
    /// One sync at a time.
    pub(crate) syncing: Semaphore,
    /// Held while this process is the one that brings the folder up to date.
    pub(crate) leader: Mutex<Option<Leader>>,
    /// Someone asked for news.
    pub(crate) sync_requested: Notify,
    /// The database has something new.
    pub(crate) events_written: Notify,
    /// Objects wait to be put where they belong.
    pub(crate) upload_pending: Notify,
    /// Whether what is shown was handed to search once.
    pub(crate) searched: watch::Sender<bool>,
    /// What was handed to search last, whole.
    pub(crate) searched_last: Mutex<Option<Arc<CatalogSnapshot>>>,
    pub(crate) cache: Cache<String, Arc<[u8]>, ByLength>,
    /// When a damaged document was last asked for.
    pub(crate) healed: Mutex<Option<Instant>>,
}

/// What there is to serve, and what went wrong last.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// What is served.
    pub snapshot: Arc<CatalogSnapshot>,
    /// Why the last sync failed, if it did.
    pub error: Option<String>,
}

/// Why the service can't be made. The text is for whoever starts it.
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
    /// Opens what is kept, and serves what is there of it. Blocks.
    pub fn open(mut options: Options) -> Result<Self, OpenError> {
        options.rules = format!("{READER_VERSION}\n{}", options.rules);
        let file = options.folder.join("lyceum.db");
        let load = |db: Db| {
            let snapshot = db.read_here(|tx| CatalogSnapshot::load(tx, &options.catalog_key()))?;
            Ok((db, snapshot))
        };
        let mut leader = None;
        let (db, snapshot) = match Db::open(&file).and_then(load) {
            Err(damage @ (DbError::Damaged(_) | DbError::Suspected | DbError::Content(_))) => {
                // Whoever has it open would go on with the old one.
                leader = Leader::try_take(&options.folder).map_err(DbError::Folder)?;
                leader.as_ref().ok_or(damage)?;
                Db::renew(&file).and_then(load)?
            }
            opened => opened?,
        };
        Ok(Self {
            options,
            db,
            state: watch::Sender::new(State { snapshot: Arc::new(snapshot), error: None }),
            syncing: Semaphore::new(1),
            leader: Mutex::new(leader),
            sync_requested: Notify::new(),
            events_written: Notify::new(),
            upload_pending: Notify::new(),
            searched: watch::Sender::new(false),
            searched_last: Mutex::default(),
            cache: Cache::with_weighter(CACHE_ITEMS, CACHE_BYTES, ByLength),
            healed: Mutex::default(),
        })
    }

    /// Tells what there is to serve, now and whenever it changes.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// What is served at this moment.
    pub fn snapshot(&self) -> Arc<CatalogSnapshot> {
        self.state.borrow().snapshot.clone()
    }

    /// What is served, once something is synced; waits for the first sync.
    pub async fn ready(&self) -> Result<Arc<CatalogSnapshot>, Error> {
        let mut state = self.state();
        let settled = state.wait_for(|state| state.snapshot.version.is_some() || state.error.is_some());
        // What comes back holds the lock of the state, so it is let go before the state is looked at.
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

    /// The name of the source in the configuration.
    pub fn source_name(&self) -> &SourceName {
        &self.options.name
    }

    /// Where the documents come from.
    pub fn source(&self) -> &Source {
        &self.options.source
    }

    /// The types of documents.
    pub fn ontology(&self) -> &Ontology {
        &self.options.ontology
    }

    /// Who the knowledge base belongs to, as people read it.
    pub fn title(&self) -> &str {
        &self.options.title
    }

    /// Whether this process is the one that brings the folder up to date; takes the place if it is free.
    pub(crate) fn lead(&self) -> std::io::Result<bool> {
        let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if leader.is_none() {
            *leader = Leader::try_take(&self.options.folder)?;
        }
        Ok(leader.is_some())
    }

    /// Brings what is shown up to what is written, and says whether something changed.
    pub(crate) async fn update_catalog(&self) -> Result<bool, DbError> {
        let before = self.snapshot();
        let key = self.options.catalog_key();
        let next = self.db.read(move |tx| before.next(tx, &key)).await?;
        let Some(next) = next else { return Ok(false) };
        self.state.send_modify(|state| {
            // Two that follow at once: what was written later counts.
            let is_later = (next.seq, next.synced_at) >= (state.snapshot.seq, state.snapshot.synced_at);
            if is_later || next.version.is_none() {
                state.snapshot = Arc::new(next);
            }
        });
        Ok(true)
    }

    /// Remembers how the last sync went.
    pub(crate) fn note(&self, error: Option<String>) {
        self.state.send_if_modified(|state| {
            let is_new = state.error != error;
            state.error = error;
            is_new
        });
    }

    /// How many objects are not yet where they belong, and those that failed.
    pub async fn pending_objects(&self) -> Result<(i64, Vec<lyceum_store::jobs::Failure>), Error> {
        let read = self.db.read(|tx| {
            let count = lyceum_store::jobs::count(tx, crate::upload::QUEUE)?;
            Ok((count, lyceum_store::jobs::failures(tx, crate::upload::QUEUE, 20)?))
        });
        read.await.map_err(failed)
    }

    /// Every file of the source, and what became of it.
    pub async fn files(&self) -> Result<Vec<documents::FileRow>, Error> {
        let name = self.options.name.to_string();
        self.db.read(move |tx| documents::files(tx, &name)).await.map_err(failed)
    }

    /// The moment, as the service reckons it: in milliseconds, as it is kept, so that a document and its entry agree.
    pub(crate) fn now() -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

/// What a caller is told when the database does not answer.
pub(crate) fn failed(error: DbError) -> Error {
    match error.code() {
        ErrorCode::Unavailable => Error::Failed { code: ErrorCode::Unavailable, message: error.to_string() },
        _ => Error::internal(error),
    }
}
