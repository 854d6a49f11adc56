//! `subscriptions/listen` of MCP 2026-07-28: one long response that streams change notifications.

use std::{collections::HashSet, sync::Arc};

use futures::{
    StreamExt,
    future::{Either, select},
    stream::{self, BoxStream},
};
use rmcp::model::{
    NotificationMetaObject, RequestId, ResourceUpdatedNotificationParam, ServerNotification,
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenResult,
};
use serde_json::{Value, json};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

use super::{Mcp, Message};
use crate::{ByteReservation, Change, Error, Hub, View};

/// Maximum number of URIs in one subscription, and of their bytes together.
const MAX_URIS: usize = 1_000;
const MAX_URI_BYTES: usize = 64 * 1024;

/// An open subscription.
struct Subscription {
    /// Keeps the broadcast channel open while the subscription exists.
    _hub: Arc<Hub>,
    changes: broadcast::Receiver<Change>,
    closing: watch::Receiver<bool>,
    wanted: SubscriptionFilter,
    /// Reserves the bytes of the URIs.
    _reservation: ByteReservation,
    id: RequestId,
    pending: Vec<Message>,
}

/// Acknowledges the accepted filter, then streams matching changes until the client disconnects or the server stops.
pub(crate) fn listen(
    mcp: &Mcp,
    view: &View,
    mut wanted: SubscriptionFilter,
    id: RequestId,
) -> Result<BoxStream<'static, Message>, Error> {
    let mut reservation = mcp.budget_of(view.caller()).hold();
    if let Some(uris) = &mut wanted.resource_subscriptions {
        reservation.grow(accept(uris, view))?;
    }
    let hub = mcp.hub();
    let acknowledged = acknowledgement(&wanted, &id);
    let (changes, closing) = (hub.changes(), hub.closing());
    let subscription = Subscription {
        _hub: hub.clone(),
        changes,
        closing,
        wanted,
        _reservation: reservation,
        id,
        pending: Vec::new(),
    };
    Ok(stream::once(async { acknowledged }).chain(stream::unfold(Some(subscription), next)).boxed())
}

/// Retains the URIs that exist, without duplicates and within the limits; returns their size.
fn accept(uris: &mut Vec<String>, view: &View) -> usize {
    let (mut accepted, mut bytes) = (HashSet::new(), 0);
    uris.retain(|uri| {
        let fits = accepted.len() < MAX_URIS && bytes + uri.len() <= MAX_URI_BYTES;
        let is_new = fits && view.has_resource(uri) && accepted.insert(uri.clone());
        bytes += if is_new { uri.len() } else { 0 };
        is_new
    });
    uris.shrink_to_fit();
    bytes
}

async fn next(state: Option<Subscription>) -> Option<(Message, Option<Subscription>)> {
    let mut subscription = state?;
    loop {
        if let Some(message) = subscription.pending.pop() {
            return Some((message, Some(subscription)));
        }
        let change = {
            let stop = std::pin::pin!(subscription.closing.wait_for(|closing| *closing));
            let change = std::pin::pin!(subscription.changes.recv());
            match select(stop, change).await {
                Either::Left(_) => None,
                Either::Right((change, _)) => Some(change),
            }
        };
        match change {
            Some(Ok(change)) => subscription.pending.extend(subscription.notification(&change)),
            // The subscription lagged, so anything that it filters for may have changed.
            Some(Err(RecvError::Lagged(_))) => subscription.pending = subscription.every_notification(),
            Some(Err(RecvError::Closed)) | None => {
                let result = SubscriptionsListenResult::complete(subscription.id.clone());
                return Some((Message::response(result.into(), subscription.id), None));
            }
        }
    }
}

impl Subscription {
    fn notification(&self, change: &Change) -> Option<Message> {
        let wanted = &self.wanted;
        let uris = wanted.resource_subscriptions.as_deref().unwrap_or_default();
        let accepted = match change {
            Change::Tools => wanted.tools_list_changed == Some(true),
            Change::Prompts => wanted.prompts_list_changed == Some(true),
            Change::Resources => wanted.resources_list_changed == Some(true),
            Change::Resource(uri) => uris.contains(uri),
        };
        accepted.then(|| tagged(change, &self.id))
    }

    fn every_notification(&self) -> Vec<Message> {
        let uris = self.wanted.resource_subscriptions.iter().flatten();
        let lists = [Change::Tools, Change::Prompts, Change::Resources];
        let all = lists.into_iter().chain(uris.map(|uri| Change::Resource(uri.clone())));
        all.filter_map(|change| self.notification(&change)).collect()
    }
}

/// The notification for a change, tagged with the id of its subscription.
fn tagged(change: &Change, id: &RequestId) -> Message {
    let (method, mut params) = match change {
        Change::Tools => ("notifications/tools/list_changed", json!({})),
        Change::Prompts => ("notifications/prompts/list_changed", json!({})),
        Change::Resources => ("notifications/resources/list_changed", json!({})),
        Change::Resource(uri) => {
            let params = ResourceUpdatedNotificationParam::new(uri.clone());
            ("notifications/resources/updated", serde_json::to_value(params).unwrap_or_default())
        }
    };
    if let Value::Object(params) = &mut params {
        params.insert("_meta".to_owned(), json!(subscription_meta(id)));
    }
    let notification = rmcp::model::CustomNotification::new(method, Some(params));
    Message::notification(ServerNotification::CustomNotification(notification))
}

fn acknowledgement(accepted: &SubscriptionFilter, id: &RequestId) -> Message {
    let params =
        SubscriptionsAcknowledgedNotificationParams::new(accepted.clone()).with_meta(subscription_meta(id));
    let notification = rmcp::model::SubscriptionsAcknowledgedNotification::new(params);
    Message::notification(ServerNotification::SubscriptionsAcknowledgedNotification(notification))
}

fn subscription_meta(id: &RequestId) -> NotificationMetaObject {
    let mut meta = NotificationMetaObject::default();
    meta.0.insert("io.modelcontextprotocol/subscriptionId".to_owned(), json!(id));
    meta
}
