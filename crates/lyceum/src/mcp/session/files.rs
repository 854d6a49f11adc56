//! What a session needs to come back, on disk: never more files than the cap, and none for a handshake alone.

use std::{
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::{
    index::{Entry, Index, Storage, Visit},
    slots::Slots,
};
use crate::config::Limits;

/// How many sessions are kept on disk for each one in memory.
const STORED_PER_SLOT: usize = 10;

/// How many sessions that never got past their handshakes are held, at least: 16 MiB where each is as large as may be.
const MIN_UNSAVED_SESSIONS: usize = 1_000;

/// The largest session that is kept: clients say a few hundred bytes of themselves.
const MAX_SESSION_BYTES: usize = 16 * 1024;

/// How old a file must be to be one that nobody will finish.
const UNFINISHED_AGE: Duration = Duration::from_secs(3600);

/// Every session that can come back. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct SessionFiles(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    max_written: usize,
    index: Mutex<Index>,
    /// Whether the folder was read into the index.
    loaded: OnceCell<()>,
    places: Arc<Slots>,
}

/// A session as it stands in its file.
#[derive(Debug, Serialize, Deserialize)]
struct StoredSession {
    #[serde(flatten)]
    state: SessionState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
}

/// There is no such session, or it is somebody else's.
#[derive(Debug)]
pub(in crate::mcp) struct SessionNotFound;

impl SessionFiles {
    pub(super) fn new(data_dir: &Path, limits: &Limits, places: Arc<Slots>) -> Self {
        let max_written = limits.sessions.saturating_mul(STORED_PER_SLOT);
        Self(Arc::new(Inner {
            folder: data_dir.join("sessions"),
            max_written,
            index: Mutex::new(Index::new(max_written, limits.sessions.max(MIN_UNSAVED_SESSIONS))),
            loaded: OnceCell::new(),
            places,
        }))
    }

    /// Lets a request into its session: the first subject that uses one owns it from then on. The first request after
    /// the handshake writes the session down.
    pub(in crate::mcp) async fn visit(&self, id: &str, subject: Option<&str>) -> Result<(), SessionNotFound> {
        self.load().await;
        let mut visit = self.0.with_index(|index| index.visit(id, subject, SystemTime::now()));
        if matches!(visit, Visit::Unknown) && self.find(id).await {
            visit = self.0.with_index(|index| index.visit(id, subject, SystemTime::now()));
        }
        match visit {
            Visit::Unknown | Visit::Foreign => Err(SessionNotFound),
            Visit::Known => Ok(()),
            Visit::Write(state, owner) => {
                let (inner, id) = (self.0.clone(), id.to_owned());
                blocking(move || inner.write(&id, &StoredSession { state: *state, owner })).await;
                self.make_room().await;
                Ok(())
            }
            Visit::Bind(owner) => {
                let (inner, own_id, subject) = (self.0.clone(), id.to_owned(), owner.clone());
                blocking(move || match inner.read(&own_id)? {
                    Some(StoredSession { owner: None, state }) => {
                        inner.write(&own_id, &StoredSession { state, owner: Some(subject) })
                    }
                    // Another process was first.
                    Some(StoredSession { owner: Some(first), .. }) => {
                        inner.with_index(|index| index.belongs_to(&own_id, first));
                        Ok(())
                    }
                    None => Ok(()),
                })
                .await;
                match self.0.with_index(|index| index.visit(id, Some(&owner), SystemTime::now())) {
                    Visit::Foreign => Err(SessionNotFound),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Removes the files of sessions that nobody will come back for; looks for those of other processes.
    pub(in crate::mcp) async fn sweep(&self) {
        self.load().await;
        let inner = self.0.clone();
        blocking(move || inner.read_folder()).await;
        self.remove_leaving().await;
    }

    async fn load(&self) {
        let read = || async {
            let inner = self.0.clone();
            blocking(move || inner.read_folder()).await;
        };
        self.0.loaded.get_or_init(read).await;
    }

    /// Takes a session into the index that another process wrote down.
    async fn find(&self, id: &str) -> bool {
        let (inner, id) = (self.0.clone(), id.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let stored = inner.read(&id).ok().flatten()?;
            let entry = Entry { owner: stored.owner, used: SystemTime::now(), storage: Storage::Written };
            inner.with_index(|index| index.add(id, entry));
            Some(())
        });
        found.await.is_ok_and(|found| found.is_some())
    }

    async fn make_room(&self) {
        if self.0.with_index(|index| index.is_over_full()) {
            self.remove_leaving().await;
        }
    }

    async fn remove_leaving(&self) {
        let inner = self.0.clone();
        blocking(move || {
            let in_memory = inner.places.held();
            let leaving =
                inner.with_index(|index| index.make_room(SystemTime::now(), |id| in_memory.contains(id)));
            leaving.iter().try_for_each(|id| inner.remove(id))
        })
        .await;
    }
}

impl Inner {
    fn with_index<T>(&self, work: impl FnOnce(&mut Index) -> T) -> T {
        work(&mut self.index.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Only ids of our own making name a file: 36 of hex digits and dashes.
    fn file(&self, id: &str) -> Option<PathBuf> {
        let ours = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        ours.then(|| self.folder.join(format!("{id}.json")))
    }

    /// What is in a file; one that can't be read is as good as none: the client is told to begin again.
    fn read(&self, id: &str) -> io::Result<Option<StoredSession>> {
        let Some(file) = self.file(id) else { return Ok(None) };
        match std::fs::read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            text => Ok(serde_json::from_slice(&text?).ok()),
        }
    }

    fn write(&self, id: &str, stored: &StoredSession) -> io::Result<()> {
        let Some(file) = self.file(id) else { return Ok(()) };
        std::fs::create_dir_all(&self.folder)?;
        let unfinished = file.with_extension("new");
        let mut options = std::fs::OpenOptions::new();
        let mut written = options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        written.write_all(&serde_json::to_vec(stored)?)?;
        std::fs::rename(&unfinished, &file)
    }

    fn remove(&self, id: &str) -> io::Result<()> {
        match self.file(id).map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the sessions in the folder into the index; of more than may be there the oldest are removed unread.
    fn read_folder(&self) -> io::Result<()> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            // A file that is gone by now was removed by its client.
            let Ok(used) = path.metadata().and_then(|file| file.modified()) else { continue };
            files.push((used, path));
        }
        files.sort_unstable_by(|one, other| other.cmp(one));
        for (number, (used, path)) in files.into_iter().enumerate() {
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let is_session = self.file(&id).is_some_and(|file| file == path);
            if self.places.holds(&id) {
                continue;
            }
            match self.read(&id)?.filter(|_| is_session && number < self.max_written) {
                Some(StoredSession { owner, .. }) => {
                    self.with_index(|index| index.add(id, Entry { owner, used, storage: Storage::Written }));
                }
                // Another process may be writing it at this moment.
                None if number < self.max_written && used.elapsed().is_ok_and(|age| age < UNFINISHED_AGE) => {
                }
                None => drop(std::fs::remove_file(path)),
            }
        }
        Ok(())
    }
}

/// Works on files aside; what fails is logged, for a session goes on without its file.
async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) {
    let done = tokio::task::spawn_blocking(work).await;
    if let Err(error) = done.map_err(io::Error::other).flatten() {
        tracing::warn!(%error, "a file of a session can't be read, written or removed");
    }
}

#[async_trait]
impl SessionStore for SessionFiles {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        if let Some(state) = self.0.with_index(|index| index.unwritten(id)) {
            return Ok(Some(state));
        }
        let Some(stored) = self.0.read(id)? else { return Ok(None) };
        if let Some(file) = self.0.file(id) {
            // The time of the file says when the session was last used.
            let opened = std::fs::File::options().append(true).open(file);
            let _age_is_a_hint = opened.and_then(|file| file.set_modified(SystemTime::now()));
        }
        Ok(Some(stored.state))
    }

    /// Remembers a session after its handshake; it gets its file when its client comes back.
    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let is_small = serde_json::to_vec(state)?.len() <= MAX_SESSION_BYTES;
        let state = is_small.then(|| Box::new(state.clone()));
        self.0.with_index(|index| index.open(id, state, SystemTime::now()));
        if is_small {
            Ok(())
        } else {
            Err(format!("what the client said of itself is larger than {MAX_SESSION_BYTES} bytes").into())
        }
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.0.with_index(|index| index.remove(id));
        Ok(self.0.remove(id)?)
    }
}

#[cfg(test)]
mod tests;
