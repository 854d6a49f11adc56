//! The sessions of older clients: capped in memory, and kept on disk so that they outlive a restart.
//!
//! What a session needs is what the client said in `initialize`; that is written to one small file when the client comes
//! back after its handshake. The longest idle session makes room for a new one in memory and comes back from its file
//! when its client speaks again.

mod files;
mod index;
pub(super) mod owner;
mod slots;

use std::{path::Path, sync::Arc, time::Duration};

use futures::{Stream, StreamExt};
use lyceum_tools::mcp::add_code;
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

pub(super) use files::{SessionFiles, SessionNotFound};
pub(super) use slots::RequestGuard;

use crate::config::Limits;
use slots::{Phase, Slots};

/// Sessions in memory: as many as the limit says, and beyond it only those that have a request under way.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    places: Arc<Slots>,
    most: usize,
    idle: Duration,
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut local = LocalSessionManager::default();
        // Its own timer knows neither calls under way nor open streams; `end_idle` does.
        local.session_config.keep_alive = None;
        Self { local, places: Arc::default(), most: limits.sessions, idle: limits.session_idle }
    }

    /// Notes that a request of a session has begun.
    pub(super) fn enter(&self, id: &str) -> RequestGuard {
        self.places.enter(id.into())
    }

    /// Ends the sessions in memory that nobody used for long; they come back from their files.
    pub(super) async fn end_idle(&self) {
        for id in self.places.make_idle_leave(self.idle) {
            if let Err(error) = self.close_session(&id).await {
                tracing::warn!(%error, "an idle session could not be ended");
            }
        }
    }

    /// Their files, in the data folder.
    pub(super) fn files(&self, data_dir: &Path, limits: &Limits) -> SessionFiles {
        SessionFiles::new(data_dir, limits, self.places.clone())
    }

    /// Ends the longest idle session in memory when there is no place left.
    async fn make_room(&self) -> Result<(), LocalSessionManagerError> {
        match self.places.make_leave(self.most) {
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
        self.places.hold(&id, Phase::Opening);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let mut answer = self.local.initialize_session(id, message).await?;
        if let JsonRpcMessage::Error(error) = &mut answer {
            add_code(&mut error.error);
        }
        self.places.hold(id, Phase::Open);
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.places.gone(id).await;
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let closed = self.local.close_session(id).await;
        self.places.leave(id);
        closed
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.create_stream(id, message).await?.map(coded))
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
        Ok(self.local.resume(id, last_event_id).await?.map(coded))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.make_room().await?;
        let outcome = self.local.restore_session(id.clone()).await?;
        if matches!(outcome, RestoreOutcome::Restored(_)) {
            self.places.hold(&id, Phase::Opening);
        }
        Ok(outcome)
    }
}

/// An event with the code clients match on, where it carries an error.
fn coded(mut event: ServerSseMessage) -> ServerSseMessage {
    if let Some(message) = &mut event.message
        && let JsonRpcMessage::Error(error) = &**message
    {
        let mut error = error.clone();
        add_code(&mut error.error);
        *message = Arc::new(JsonRpcMessage::Error(error));
    }
    event
}
