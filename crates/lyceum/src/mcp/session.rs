//! The sessions of earlier protocol versions: limited in memory, and persisted so that they survive a restart.
//!
//! A session needs what the client sent in `initialize`. That is written to a small file on the first request after
//! the handshake, or, if several nodes share a database, to that at once. When memory is full, the session that is idle for longest is evicted, and restored from its file on
//! its next request.

mod files;
mod index;
pub(super) mod owner;
mod records;
mod slots;

use std::{path::Path, sync::Arc, time::Duration};

use futures::{Stream, StreamExt};
use lyceum_store::Db;
use lyceum_tools::mcp::add_code;
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

pub(super) use files::{SavedSessions, SessionNotFound};
pub(super) use slots::RequestGuard;

use crate::config::Limits;
use records::Records;
use slots::{Phase, Slots};

/// Sessions in memory: up to the limit, and beyond it only those with an in-flight request.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    slots: Arc<Slots>,
    max: usize,
    idle: Duration,
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut local = LocalSessionManager::default();
        // `rmcp`'s own timer ignores in-flight calls and open streams; `end_idle` does not.
        local.session_config.keep_alive = None;
        Self { local, slots: Arc::default(), max: limits.sessions, idle: limits.session_idle }
    }

    /// Counts a new in-flight request of a session.
    pub(super) fn enter(&self, id: &str) -> RequestGuard {
        self.slots.enter(id.into())
    }

    /// Evicts idle sessions from memory; they are restored from their files.
    pub(super) async fn end_idle(&self) {
        for id in self.slots.evict_idle(self.idle) {
            if let Err(error) = self.close_session(&id).await {
                tracing::warn!(%error, "could not end an idle session");
            }
        }
    }

    /// Evicts all sessions from memory, whatever they do.
    pub(super) async fn evict_all(&self) {
        for id in self.slots.ids() {
            if let Err(error) = self.close_session(&id).await {
                tracing::warn!(%error, "could not end a session");
            }
        }
    }

    /// The saved sessions: in the database that several nodes share, else in the data folder.
    pub(super) fn saved(&self, data_dir: &Path, shared: Option<&Db>, limits: &Limits) -> SavedSessions {
        let records = match shared {
            Some(db) => Records::Database(db.clone()),
            None => Records::Folder(data_dir.join("sessions")),
        };
        SavedSessions::new(records, limits, self.slots.clone())
    }

    /// Evicts the session that is idle for longest, if memory is full.
    async fn make_room(&self) -> Result<(), LocalSessionManagerError> {
        match self.slots.evict_one(self.max) {
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
        self.slots.insert(&id, Phase::Opening);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let mut response = self.local.initialize_session(id, message).await?;
        if let JsonRpcMessage::Error(error) = &mut response {
            add_code(&mut error.error);
        }
        self.slots.insert(id, Phase::Open);
        Ok(response)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.slots.wait_for_eviction(id).await;
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let closed = self.local.close_session(id).await;
        self.slots.remove(id);
        closed
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.create_stream(id, message).await?.map(with_error_code))
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
        Ok(self.local.resume(id, last_event_id).await?.map(with_error_code))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.make_room().await?;
        let outcome = self.local.restore_session(id.clone()).await?;
        if matches!(outcome, RestoreOutcome::Restored(_)) {
            self.slots.insert(&id, Phase::Opening);
        }
        Ok(outcome)
    }
}

/// Adds the code that clients match on, if the event is an error.
fn with_error_code(mut event: ServerSseMessage) -> ServerSseMessage {
    if let Some(message) = &mut event.message
        && let JsonRpcMessage::Error(error) = &**message
    {
        let mut error = error.clone();
        add_code(&mut error.error);
        *message = Arc::new(JsonRpcMessage::Error(error));
    }
    event
}
