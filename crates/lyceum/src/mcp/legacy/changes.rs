//! Change notifications of earlier protocol versions, on the stream of the session.

use std::time::Duration;

use lyceum_tools::Change;
use rmcp::{RoleServer, model::ResourceUpdatedNotificationParam, service::Peer};
use tokio::sync::broadcast::error::RecvError;

use super::Session;

impl Session {
    /// Sends notifications until the client disconnects.
    pub(super) async fn notify_changes(&self, peer: Peer<RoleServer>) {
        let mut changes = self.shared.mcp.hub().changes();
        while !peer.is_transport_closed() {
            let sent = match tokio::time::timeout(Duration::from_secs(30), changes.recv()).await {
                // Check regularly whether the client is still connected.
                Err(_) => Ok(()),
                Ok(Ok(change)) => self.notify(&peer, change).await,
                Ok(Err(RecvError::Lagged(_))) => self.notify_everything(&peer).await,
                Ok(Err(RecvError::Closed)) => return,
            };
            if sent.is_err() {
                return;
            }
        }
    }

    async fn notify(&self, peer: &Peer<RoleServer>, change: Change) -> Result<(), rmcp::ServiceError> {
        match change {
            Change::Tools => peer.notify_tool_list_changed().await,
            Change::Prompts => peer.notify_prompt_list_changed().await,
            Change::Resources => peer.notify_resource_list_changed().await,
            Change::Resource(uri) if self.with_state(|state| state.subscriptions.contains(&uri)) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            Change::Resource(_) => Ok(()),
        }
    }

    async fn notify_everything(&self, peer: &Peer<RoleServer>) -> Result<(), rmcp::ServiceError> {
        for change in [Change::Tools, Change::Prompts, Change::Resources] {
            self.notify(peer, change).await?;
        }
        for uri in self.with_state(|state| state.subscriptions.all()) {
            self.notify(peer, Change::Resource(uri)).await?;
        }
        Ok(())
    }
}
