//! The sessions of older clients: capped in memory, and kept on disk so that they outlive a restart.
//!
//! What a session needs is what the client said in `initialize`; that is written to one small file. The longest
//! idle session makes room for a new one and comes back from its file when its client speaks again.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use async_trait::async_trait;
use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        RestoreOutcome, ServerSseMessage, SessionId, SessionManager, SessionState, SessionStore,
        SessionStoreError,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

use crate::config::Limits;

/// How long a session that nobody uses is kept on disk.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// How many sessions are kept on disk for each one in memory.
const KEPT_PER_PLACE: usize = 10;

/// Sessions in memory, at most as many as the limit says.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    used: Mutex<HashMap<SessionId, Instant>>,
    most: usize,
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(limits.session_idle);
        Self { local, used: Mutex::new(HashMap::new()), most: limits.sessions }
    }

    fn touch(&self, id: &SessionId) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), Instant::now());
    }

    /// Ends the longest idle session in memory when there is no place left.
    async fn make_room(&self) -> Result<(), LocalSessionManagerError> {
        let longest_idle = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            if used.len() < self.most {
                return Ok(());
            }
            let oldest = used.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone());
            oldest.inspect(|id| {
                used.remove(id);
            })
        };
        match longest_idle {
            Some(id) => self.local.close_session(&id).await,
            None => Ok(()),
        }
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.make_room().await?;
        let (id, transport) = self.local.create_session().await?;
        self.touch(&id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let there = self.local.has_session(id).await?;
        if there {
            self.touch(id);
        }
        Ok(there)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.resume(id, last_event_id).await
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.make_room().await?;
        let outcome = self.local.restore_session(id.clone()).await?;
        self.touch(&id);
        Ok(outcome)
    }
}

/// What clients said in `initialize`, a file each.
#[derive(Debug)]
pub(super) struct SessionFiles {
    folder: PathBuf,
    most: usize,
}

impl SessionFiles {
    pub(super) fn new(data_dir: &Path, limits: &Limits) -> Self {
        Self { folder: data_dir.join("sessions"), most: limits.sessions.saturating_mul(KEPT_PER_PLACE) }
    }

    /// Only ids of our own making name a file: 36 of hex digits and dashes.
    fn file(&self, id: &str) -> Option<PathBuf> {
        let ours = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        ours.then(|| self.folder.join(format!("{id}.json")))
    }

    /// Removes sessions that nobody used for long, and the oldest where there are too many.
    pub(super) async fn sweep(&self, now: SystemTime) -> io::Result<()> {
        let mut kept = Vec::new();
        let mut entries = match tokio::fs::read_dir(&self.folder).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        while let Some(entry) = entries.next_entry().await? {
            kept.push((entry.metadata().await?.modified()?, entry.path()));
        }
        kept.sort();
        let too_many = kept.len().saturating_sub(self.most);
        for (index, (used, path)) in kept.iter().enumerate() {
            if index < too_many || now.duration_since(*used).is_ok_and(|age| age > KEPT_FOR) {
                tokio::fs::remove_file(path).await?;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl SessionStore for SessionFiles {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Some(file) = self.file(id) else { return Ok(None) };
        let text = match tokio::fs::read(&file).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        // The time of the file says when the session was last used.
        let opened = std::fs::File::options().append(true).open(&file);
        let _age_is_a_hint = opened.and_then(|file| file.set_modified(SystemTime::now()));
        // A file that can't be read is as good as none: the client is told to begin again.
        Ok(serde_json::from_slice(&text).ok())
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let Some(file) = self.file(id) else { return Ok(()) };
        tokio::fs::create_dir_all(&self.folder).await?;
        let unfinished = file.with_extension("new");
        tokio::fs::write(&unfinished, serde_json::to_vec(state)?).await?;
        tokio::fs::rename(&unfinished, &file).await?;
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        match self.file(id).map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}
