//! The knowledge service: what its tools and doors work on.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use lyceum_content::{knowledge::Entry, ontology::Ontology};
use lyceum_model::{ErrorCode, RelPath, SourceName};
use lyceum_source::Source;
use lyceum_store::{Db, DbError, Key, Objects, documents};
use lyceum_tools::Error;
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::{Notify, Semaphore, watch};

use crate::{
    Shown,
    document::{Document, hash},
    leader::Leader,
};

/// How many bytes of documents are held in memory.
const CACHED_BYTES: u64 = 24 * 1024 * 1024;

/// About how many documents that is.
const CACHED_ITEMS: usize = 4_000;

/// How long a call waits for the first sync, such as for the first clone of a repository.
const FIRST_SYNC_WITHIN: Duration = Duration::from_secs(60);

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
    /// The folder for the database, the lock and, where they are on this machine, the objects.
    pub folder: PathBuf,
    /// Where the documents are kept.
    pub objects: Objects,
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
    pub(crate) asked: Notify,
    /// The database has something new.
    pub(crate) written: Notify,
    /// Objects wait to be put where they belong.
    pub(crate) unshelved: Notify,
    cache: Cache<String, Arc<[u8]>, ByLength>,
}

/// What there is to serve, and what went wrong last.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// What is served.
    pub shown: Arc<Shown>,
    /// Why the last sync failed, if it did.
    pub error: Option<String>,
}

/// Why the service can't be made. The text is for whoever starts it.
#[derive(Debug, thiserror::Error)]
#[error("the knowledge base can't be opened")]
pub struct OpenError(#[from] DbError);

#[derive(Debug, Clone)]
struct ByLength;

impl Weighter<String, Arc<[u8]>> for ByLength {
    fn weight(&self, key: &String, bytes: &Arc<[u8]>) -> u64 {
        u64::try_from(key.len() + bytes.len()).unwrap_or(u64::MAX).max(1)
    }
}

impl Knowledge {
    /// Opens what is kept, and serves what is there of it. Blocks.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let open = || {
            let db = Db::open(&options.folder.join("lyceum.db"))?;
            let shown = db.read_here(|tx| Shown::load(tx, options.name.as_str(), &options.links))?;
            Ok((db, shown))
        };
        let (db, shown) = match open() {
            // It is known to be damaged now, and put aside when it is opened again.
            Err(DbError::Damaged(_) | DbError::Content(_)) => open()?,
            opened => opened?,
        };
        Ok(Self {
            options,
            db,
            state: watch::Sender::new(State { shown: Arc::new(shown), error: None }),
            syncing: Semaphore::new(1),
            leader: Mutex::default(),
            asked: Notify::new(),
            written: Notify::new(),
            unshelved: Notify::new(),
            cache: Cache::with_weighter(CACHED_ITEMS, CACHED_BYTES, ByLength),
        })
    }

    /// Tells what there is to serve, now and whenever it changes.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// What is served at this moment.
    pub fn shown(&self) -> Arc<Shown> {
        self.state.borrow().shown.clone()
    }

    /// What is served, once something was brought in; waits for the first sync.
    pub async fn ready(&self) -> Result<Arc<Shown>, Error> {
        let mut state = self.state();
        let settled = state.wait_for(|state| state.shown.version.is_some() || state.error.is_some());
        // What comes back holds the lock of the state, so it is let go before the state is looked at.
        let _settled = tokio::time::timeout(FIRST_SYNC_WITHIN, settled).await.is_ok();
        let State { shown, error } = self.state.borrow().clone();
        if shown.version.is_some() {
            return Ok(shown);
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

    /// The document of an entry as it is kept: JSON, the same bytes for as long as the entry is the same.
    pub async fn bytes(&self, entry: &Entry) -> Result<Arc<[u8]>, Error> {
        if let Some(bytes) = self.cache.get(&entry.hash) {
            return Ok(bytes);
        }
        if let Some(bytes) = self.fetch(entry).await? {
            return Ok(self.remember(&entry.hash, bytes));
        }
        // A newer version may have taken its place since the caller looked.
        let (content_type, id) = (&entry.summary.content_type, &entry.summary.id);
        let shown = self.shown();
        let newer = shown.catalog.get(content_type, id).filter(|newer| newer.hash != entry.hash);
        if let Some(newer) = newer
            && let Some(bytes) = self.fetch(newer).await?
        {
            return Ok(self.remember(&newer.hash, bytes));
        }
        self.heal(entry).await;
        let message = "the document is being brought in again; try again in a moment".to_owned();
        Err(Error::Failed { code: ErrorCode::Unavailable, message })
    }

    /// The document of an entry.
    pub async fn document(&self, entry: &Entry) -> Result<Document, Error> {
        let bytes = self.bytes(entry).await?;
        serde_json::from_slice(&bytes).map_err(Error::internal)
    }

    /// The bytes of that hash: where they belong, or where they wait to be put there.
    async fn fetch(&self, entry: &Entry) -> Result<Option<Vec<u8>>, Error> {
        let key = Key::content(&entry.summary.content_type, &entry.summary.id).map_err(Error::internal)?;
        let kept = match self.options.objects.get(&key).await {
            Ok(kept) => kept.filter(|bytes| hash(bytes) == entry.hash),
            Err(error) => {
                tracing::warn!(error.cause = %error, object.key = key.as_str(), "an object could not be read");
                None
            }
        };
        if let Some(bytes) = kept {
            return Ok(Some(bytes.to_vec()));
        }
        let wanted = entry.hash.clone();
        self.db.read(move |tx| documents::body(tx, &wanted)).await.map_err(failed)
    }

    fn remember(&self, hash: &str, bytes: Vec<u8>) -> Arc<[u8]> {
        let bytes: Arc<[u8]> = bytes.into();
        self.cache.insert(hash.to_owned(), bytes.clone());
        bytes
    }

    /// Has a document brought in again whose object is not what it was.
    async fn heal(&self, entry: &Entry) {
        tracing::error!(
            document.path = entry.summary.path,
            "a stored document is damaged or gone; it is brought in again"
        );
        let (name, path) = (self.options.name.to_string(), entry.summary.path.clone());
        let asked = self.db.write(move |tx| {
            documents::forget_content(tx, &name, &path)?;
            documents::want(tx, &name)
        });
        match asked.await {
            Ok(()) => self.asked.notify_one(),
            Err(error) => tracing::error!(error.cause = %error, "a damaged document could not be marked"),
        }
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
    pub(crate) async fn follow(&self) -> Result<bool, DbError> {
        let before = self.shown();
        let (name, links) = (self.options.name.clone(), self.options.links.clone());
        let next = self.db.read(move |tx| before.next(tx, name.as_str(), &links)).await?;
        let Some(next) = next else { return Ok(false) };
        self.state.send_modify(|state| {
            // Two that follow at once: the later event counts.
            if next.seq >= state.shown.seq {
                state.shown = Arc::new(next);
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
    pub async fn unshelved(&self) -> Result<(i64, Vec<lyceum_store::jobs::Failure>), Error> {
        let read = self.db.read(|tx| {
            let count = lyceum_store::jobs::count(tx, crate::shelve::QUEUE)?;
            Ok((count, lyceum_store::jobs::failures(tx, crate::shelve::QUEUE, 20)?))
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
