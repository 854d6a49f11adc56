//! Session files. Their number is limited, and a handshake alone writes none.

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

/// Number of sessions on disk for each one in memory.
const STORED_PER_SLOT: usize = 10;

/// Minimum capacity for sessions that have only completed their handshake: 16 MiB if each has the maximum size.
const MIN_UNSAVED_SESSIONS: usize = 1_000;

/// Maximum size of a stored session: clients send a few hundred bytes about themselves.
const MAX_SESSION_BYTES: usize = 16 * 1024;

/// The age at which an unfinished file is considered abandoned.
const UNFINISHED_AGE: Duration = Duration::from_secs(3600);

/// All sessions that can be restored. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct SessionFiles(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    max_written: usize,
    index: Mutex<Index>,
    /// Whether the folder has been read into the index.
    loaded: OnceCell<()>,
    slots: Arc<Slots>,
}

/// The contents of a session file.
#[derive(Debug, Serialize, Deserialize)]
struct StoredSession {
    #[serde(flatten)]
    state: SessionState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
}

/// There is no such session, or it belongs to another subject.
#[derive(Debug)]
pub(in crate::mcp) struct SessionNotFound;

impl SessionFiles {
    pub(super) fn new(data_dir: &Path, limits: &Limits, slots: Arc<Slots>) -> Self {
        let max_written = limits.sessions.saturating_mul(STORED_PER_SLOT);
        Self(Arc::new(Inner {
            folder: data_dir.join("sessions"),
            max_written,
            index: Mutex::new(Index::new(max_written, limits.sessions.max(MIN_UNSAVED_SESSIONS))),
            loaded: OnceCell::new(),
            slots,
        }))
    }

    /// Checks that a request may use its session: the first subject that uses a session owns it. The first request
    /// after the handshake writes the session to disk.
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
                        inner.with_index(|index| index.set_owner(&own_id, first));
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

    /// Deletes the files of expired sessions, and reads those of other processes.
    pub(in crate::mcp) async fn sweep(&self) {
        self.load().await;
        let inner = self.0.clone();
        blocking(move || inner.read_folder()).await;
        self.remove_evicted().await;
    }

    async fn load(&self) {
        let read = || async {
            let inner = self.0.clone();
            blocking(move || inner.read_folder()).await;
        };
        self.0.loaded.get_or_init(read).await;
    }

    /// Adds a session that another process wrote to the index.
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
        if self.0.with_index(|index| index.exceeds_limit()) {
            self.remove_evicted().await;
        }
    }

    async fn remove_evicted(&self) {
        let inner = self.0.clone();
        blocking(move || {
            let in_memory = inner.slots.ids();
            let evicted =
                inner.with_index(|index| index.make_room(SystemTime::now(), |id| in_memory.contains(id)));
            evicted.iter().try_for_each(|id| inner.remove(id))
        })
        .await;
    }
}

impl Inner {
    fn with_index<T>(&self, work: impl FnOnce(&mut Index) -> T) -> T {
        work(&mut self.index.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Only ids that we generate are file names: 36 characters of hex digits and dashes.
    fn file(&self, id: &str) -> Option<PathBuf> {
        let ours = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        ours.then(|| self.folder.join(format!("{id}.json")))
    }

    /// Reads a file. An invalid one counts as missing: the client must initialize again.
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

    /// Reads the folder into the index. If there are too many files, the oldest are deleted unread.
    fn read_folder(&self) -> io::Result<()> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            // A file that is gone by now was deleted by its client.
            let Ok(used) = path.metadata().and_then(|file| file.modified()) else { continue };
            files.push((used, path));
        }
        files.sort_unstable_by(|one, other| other.cmp(one));
        for (number, (used, path)) in files.into_iter().enumerate() {
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let is_session = self.file(&id).is_some_and(|file| file == path);
            if self.slots.contains(&id) {
                continue;
            }
            match self.read(&id)?.filter(|_| is_session && number < self.max_written) {
                Some(StoredSession { owner, .. }) => {
                    self.with_index(|index| index.add(id, Entry { owner, used, storage: Storage::Written }));
                }
                // Another process may be writing it.
                None if number < self.max_written && used.elapsed().is_ok_and(|age| age < UNFINISHED_AGE) => {
                }
                None => drop(std::fs::remove_file(path)),
            }
        }
        Ok(())
    }
}

/// Runs blocking file operations. Errors are only logged, because a session works without its file.
async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) {
    let done = tokio::task::spawn_blocking(work).await;
    if let Err(error) = done.map_err(io::Error::other).flatten() {
        tracing::warn!(%error, "cannot read, write or delete a session file");
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
            // The modification time of the file is the time of last use.
            let opened = std::fs::File::options().append(true).open(file);
            let _age_is_a_hint = opened.and_then(|file| file.set_modified(SystemTime::now()));
        }
        Ok(Some(stored.state))
    }

    /// Stores a session after its handshake in memory; its file is written on the first request.
    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let is_small = serde_json::to_vec(state)?.len() <= MAX_SESSION_BYTES;
        let state = is_small.then(|| Box::new(state.clone()));
        self.0.with_index(|index| index.open(id, state, SystemTime::now()));
        if is_small {
            Ok(())
        } else {
            Err(format!("the parameters of initialize are larger than {MAX_SESSION_BYTES} bytes").into())
        }
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.0.with_index(|index| index.remove(id));
        Ok(self.0.remove(id)?)
    }
}

#[cfg(test)]
mod tests;
