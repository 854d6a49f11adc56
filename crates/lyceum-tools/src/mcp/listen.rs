//! `subscriptions/listen`: one long answer that tells of changes, in the modern era.

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

/// How many addresses one subscription may name, and how many bytes they may be together.
const MAX_ADDRESSES: usize = 1_000;
const MAX_ADDRESS_BYTES: usize = 64 * 1024;

/// A subscription under way.
struct Subscription {
    /// Keeps the channel open for as long as somebody listens.
    _hub: Arc<Hub>,
    changes: broadcast::Receiver<Change>,
    closing: watch::Receiver<bool>,
    wanted: SubscriptionFilter,
    /// What the addresses take of the budget.
    _held: ByteReservation,
    id: RequestId,
    waiting: Vec<Message>,
}

/// Acknowledges what is accepted, then tells of each such change until the client leaves or the server stops.
pub(crate) fn listen(
    mcp: &Mcp,
    view: &View,
    mut wanted: SubscriptionFilter,
    id: RequestId,
) -> Result<BoxStream<'static, Message>, Error> {
    let mut held = mcp.budget_of(view.caller()).hold();
    if let Some(addresses) = &mut wanted.resource_subscriptions {
        held.grow(accept(addresses, view))?;
    }
    let hub = mcp.hub();
    let acknowledged = acknowledgement(&wanted, &id);
    let (changes, closing) = (hub.changes(), hub.closing());
    let listening =
        Subscription { _hub: hub.clone(), changes, closing, wanted, _held: held, id, waiting: Vec::new() };
    Ok(stream::once(async { acknowledged }).chain(stream::unfold(Some(listening), next)).boxed())
}

/// Keeps the addresses that there are, each once, as many as may be; returns their size.
fn accept(addresses: &mut Vec<String>, view: &View) -> usize {
    let (mut accepted, mut bytes) = (HashSet::new(), 0);
    addresses.retain(|uri| {
        let fits = accepted.len() < MAX_ADDRESSES && bytes + uri.len() <= MAX_ADDRESS_BYTES;
        let is_new = fits && view.has_resource(uri) && accepted.insert(uri.clone());
        bytes += if is_new { uri.len() } else { 0 };
        is_new
    });
    addresses.shrink_to_fit();
    bytes
}

async fn next(state: Option<Subscription>) -> Option<(Message, Option<Subscription>)> {
    let mut listening = state?;
    loop {
        if let Some(message) = listening.waiting.pop() {
            return Some((message, Some(listening)));
        }
        let change = {
            let stop = std::pin::pin!(listening.closing.wait_for(|closing| *closing));
            let change = std::pin::pin!(listening.changes.recv());
            match select(stop, change).await {
                Either::Left(_) => None,
                Either::Right((change, _)) => Some(change),
            }
        };
        match change {
            Some(Ok(change)) => listening.waiting.extend(listening.notification(&change)),
            // Too far behind to know what changed: everything that was asked for may have.
            Some(Err(RecvError::Lagged(_))) => listening.waiting = listening.every_notification(),
            Some(Err(RecvError::Closed)) | None => {
                let result = SubscriptionsListenResult::complete(listening.id.clone());
                return Some((Message::response(result.into(), listening.id), None));
            }
        }
    }
}

impl Subscription {
    fn notification(&self, change: &Change) -> Option<Message> {
        let wanted = &self.wanted;
        let addresses = wanted.resource_subscriptions.as_deref().unwrap_or_default();
        let accepted = match change {
            Change::Tools => wanted.tools_list_changed == Some(true),
            Change::Prompts => wanted.prompts_list_changed == Some(true),
            Change::Resources => wanted.resources_list_changed == Some(true),
            Change::Resource(uri) => addresses.contains(uri),
        };
        accepted.then(|| tagged(change, &self.id))
    }

    fn every_notification(&self) -> Vec<Message> {
        let addresses = self.wanted.resource_subscriptions.iter().flatten();
        let lists = [Change::Tools, Change::Prompts, Change::Resources];
        let all = lists.into_iter().chain(addresses.map(|uri| Change::Resource(uri.clone())));
        all.filter_map(|change| self.notification(&change)).collect()
    }
}

/// The change on the wire, tagged with the subscription it belongs to.
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
