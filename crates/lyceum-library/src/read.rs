//! Reads one file: live from GitHub through the cache, or from the server's own copy.

use std::{sync::Arc, time::Duration};

use lyceum_model::{Caller, RelPath};
use lyceum_net::Secret;
use lyceum_source::{
    ReadError, Snapshot,
    github::{self, Contents, Fetched, File, GitHub, MAX_FILE_BYTES, blob_id},
};
use tokio::time::Instant;

use crate::{
    cache::{Cache, Entry, Key},
    error::ReadFailure,
    part::Reader,
};

/// Deadline of a live read, with all its retries.
const READ_DEADLINE: Duration = Duration::from_secs(30);

/// Whether a cached file will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// What was read in the last ten minutes.
    Cached,
    /// What GitHub has now; it replaces what is cached.
    Now,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) path: RelPath,
    pub(crate) file: Arc<File>,
    /// The commit of the server's copy, if it has the same version of the file.
    pub(crate) commit: Option<String>,
    /// Link to the file at that commit, or on its branch.
    pub(crate) url: Option<String>,
}

impl Found {
    fn new(path: RelPath, file: Arc<File>) -> Self {
        Self { path, file, commit: None, url: None }
    }
}

/// Reads the first of these paths that is a file. `snapshot` is the server's own copy.
pub(crate) async fn read(
    cache: &Arc<Cache>,
    reader: &Reader,
    caller: &Caller,
    snapshot: Option<Snapshot>,
    paths: Vec<RelPath>,
    freshness: Freshness,
) -> Result<Found, ReadFailure> {
    match reader {
        Reader::Caller { github, repo, branch } => {
            let credential = caller.credential().ok_or(ReadFailure::NoToken)?;
            let token = Secret::for_header(credential.reveal()).map_err(|_| ReadFailure::NoToken)?;
            let hash = github.token_hash(Some(&token));
            let key = Arc::new(Key { token: hash, repo: repo.clone(), branch: branch.clone(), paths });
            let entry = read_live(cache, github, token, key, freshness).await?;
            Ok(Found::new(entry.path.clone(), entry.file.clone()))
        }
        Reader::Server { .. } => {
            let snapshot = snapshot.ok_or(ReadFailure::Missing)?;
            let read = tokio::task::spawn_blocking(move || read_copy(&snapshot, paths)).await;
            read.unwrap_or_else(|error| Err(ReadFailure::Unreadable(error.to_string())))
        }
    }
}

/// Reads from the cache, or from GitHub. Concurrent equal reads make one request; a read that skips the cache makes its
/// own, because what is on its way may be older than what its caller knows of.
async fn read_live(
    cache: &Arc<Cache>,
    github: &GitHub,
    token: Secret,
    key: Arc<Key>,
    freshness: Freshness,
) -> Result<Arc<Entry>, ReadFailure> {
    if freshness == Freshness::Cached
        && let Some(entry) = cache.fresh(&key, Instant::now())
    {
        return Ok(entry);
    }
    let (shared, github, wanted) = (cache.clone(), github.clone(), key.clone());
    let work = async move {
        // Another read may have ended since.
        if freshness == Freshness::Cached
            && let Some(entry) = shared.fresh(&wanted, Instant::now())
        {
            return Ok(entry);
        }
        let fetched = fetch(&github, &token, &wanted, shared.known(&wanted)).await;
        match &fetched {
            Ok(entry) => shared.insert(wanted, entry.clone()),
            // What the token may no longer read, or is gone, is not served to it again.
            Err(ReadFailure::GitHub(
                github::Error::Unauthorized { .. }
                | github::Error::Forbidden { .. }
                | github::Error::NotFound,
            )) => shared.remove(&wanted),
            Err(_) => {}
        }
        fetched
    };
    match freshness {
        Freshness::Cached => cache.flights.join(key, work).await,
        Freshness::Now => work.await,
    }
}

/// Asks GitHub for each path, until one is a file.
async fn fetch(
    github: &GitHub,
    token: &Secret,
    key: &Key,
    known: Option<Arc<Entry>>,
) -> Result<Arc<Entry>, ReadFailure> {
    let deadline = Instant::now() + READ_DEADLINE;
    let mut failure = ReadFailure::GitHub(github::Error::NotFound);
    for path in &key.paths {
        let known = known.as_ref().filter(|known| known.path == *path);
        let etag = known.and_then(|known| known.etag.as_deref());
        let fetched = github.contents(Some(token), (&key.repo, &key.branch), path, etag, deadline).await;
        let (file, etag) = match (fetched, known) {
            (Ok(Fetched::Changed { value: Contents::File(file), etag }), _) => (Arc::new(file), etag),
            (Ok(Fetched::Unchanged), Some(known)) => (known.file.clone(), known.etag.clone()),
            (Ok(Fetched::Unchanged), None) => return Err(github::Error::Invalid("response").into()),
            (Ok(Fetched::Changed { value: other, .. }), _) => {
                failure = ReadFailure::NotAFile(kind_of(&other));
                continue;
            }
            (Err(github::Error::NotFound), _) => continue,
            (Err(error), _) => return Err(error.into()),
        };
        return Ok(Arc::new(Entry { path: path.clone(), file, etag, fetched_at: Instant::now() }));
    }
    Err(failure)
}

fn kind_of(contents: &Contents) -> &'static str {
    match contents {
        Contents::File(_) => "a file",
        Contents::Directory(_) => "a folder",
        Contents::Symlink { .. } => "a symbolic link that leads to no file of the repository",
        Contents::Submodule { .. } => "a submodule",
    }
}

/// Reads from the server's own copy. Blocks.
fn read_copy(snapshot: &Snapshot, paths: Vec<RelPath>) -> Result<Found, ReadFailure> {
    for path in paths {
        let bytes = match snapshot.read(&path, MAX_FILE_BYTES as u64) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => continue,
            Err(error) => return Err(ReadFailure::Unreadable(error.to_string())),
        };
        let sha = blob_id(&bytes).unwrap_or_default();
        return Ok(Found::new(path, Arc::new(File { bytes, sha })));
    }
    Err(ReadFailure::Missing)
}
