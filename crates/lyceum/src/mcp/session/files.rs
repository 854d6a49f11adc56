//! Saved sessions. Their number is limited, and a handshake alone writes no file.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use async_trait::async_trait;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::{
    index::{Entry, Index, Storage, Visit},
    records::Records,
    slots::Slots,
};
use crate::config::Limits;

/// Number of sessions on disk for each one in memory.
const STORED_PER_SLOT: usize = 10;

/// Minimum capacity for sessions that have only completed their handshake: 16 MiB if each has the maximum size.
const MIN_UNSAVED_SESSIONS: usize = 1_000;

/// Maximum size of a stored session: clients send a few hundred bytes about themselves.
const MAX_SESSION_BYTES: usize = 16 * 1024;

/// All sessions that can be restored. Cheap to clone.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct SavedSessions(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    records: Records,
    max_written: usize,
    index: Mutex<Index>,
    /// Whether the records have been read into the index.
    loaded: OnceCell<()>,
    slots: Arc<Slots>,
}

/// The contents of a record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredSession {
    #[serde(flatten)]
    pub(super) state: SessionState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) owner: Option<String>,
}

/// There is no such session, or it belongs to another subject.
#[derive(Debug)]
pub(in crate::mcp) struct SessionNotFound;

impl SavedSessions {
    pub(super) fn new(records: Records, limits: &Limits, slots: Arc<Slots>) -> Self {
        let max_written = limits.sessions.saturating_mul(STORED_PER_SLOT);
        Self(Arc::new(Inner {
            records,
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
        blocking(move || inner.read_all()).await;
        self.remove_evicted().await;
    }

    async fn load(&self) {
        let read = || async {
            let inner = self.0.clone();
            blocking(move || inner.read_all()).await;
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
            if inner.records.is_shared() {
                // They expire by themselves: another node may use those that are idle here.
                return inner.records.touch(in_memory.iter().map(|id| &**id));
            }
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

    fn read(&self, id: &str) -> io::Result<Option<StoredSession>> {
        self.records.read(id)
    }

    fn write(&self, id: &str, stored: &StoredSession) -> io::Result<()> {
        self.records.write(id, stored)
    }

    fn remove(&self, id: &str) -> io::Result<()> {
        self.records.remove(id)
    }

    /// Reads the records into the index; if there are too many, the oldest are deleted.
    fn read_all(&self) -> io::Result<()> {
        let is_open = |id: &str| self.slots.contains(id);
        for (id, owner, used) in self.records.read_all(self.max_written, is_open)? {
            self.with_index(|index| index.add(id, Entry { owner, used, storage: Storage::Written }));
        }
        Ok(())
    }
}

/// Runs blocking operations on records. Errors are only logged, because a session works without its record.
async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) {
    let done = tokio::task::spawn_blocking(work).await;
    if let Err(error) = done.map_err(io::Error::other).flatten() {
        tracing::warn!(%error, "cannot read, write or delete a saved session");
    }
}

#[async_trait]
impl SessionStore for SavedSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        if let Some(state) = self.0.with_index(|index| index.unwritten(id)) {
            return Ok(Some(state));
        }
        if self.0.records.is_shared() {
            let (inner, id) = (self.0.clone(), id.to_owned());
            let stored = tokio::task::spawn_blocking(move || inner.read(&id)).await??;
            return Ok(stored.map(|stored| stored.state));
        }
        let Some(stored) = self.0.read(id)? else { return Ok(None) };
        self.0.records.touch([id])?;
        Ok(Some(stored.state))
    }

    /// Stores a session after its handshake in memory; its file is written on the first request. If several nodes share a
    /// database, it is written there at once, for that request may go to another node.
    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let is_small = serde_json::to_vec(state)?.len() <= MAX_SESSION_BYTES;
        if is_small && self.0.records.is_shared() {
            let (inner, id) = (self.0.clone(), id.to_owned());
            let stored = StoredSession { state: state.clone(), owner: None };
            blocking(move || inner.records.write_handshake(&id, &stored)).await;
        }
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
        let (inner, id) = (self.0.clone(), id.to_owned());
        Ok(tokio::task::spawn_blocking(move || inner.remove(&id)).await??)
    }
}

#[cfg(test)]
mod tests;
