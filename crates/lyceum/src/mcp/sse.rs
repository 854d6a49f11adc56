//! Server-sent events: one compact `data:` line per message, and keep-alive comments.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use http::{HeaderValue, header};
use lyceum_tools::mcp::{Mcp, Message};

use crate::telemetry::{Metrics, Operation};

/// Idle time after which a keep-alive comment is sent.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// A comment, which clients ignore.
pub(super) const KEEP_ALIVE_COMMENT: &[u8] = b":\n\n";

/// An SSE response.
pub(super) fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Prevents proxies from buffering events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A stream of one message.
pub(super) fn one(mcp: &Mcp, message: Message) -> Response {
    response(Body::from(event(mcp, message)))
}

/// Encodes messages as events.
pub(super) fn events(mcp: Mcp, messages: impl Stream<Item = Message> + Send + 'static) -> Body {
    let frames = with_keep_alive(messages).map(move |message| {
        let frame =
            message.map_or_else(|| Bytes::from_static(KEEP_ALIVE_COMMENT), |message| event(&mcp, message));
        Ok::<_, Infallible>(frame)
    });
    Body::from_stream(frames)
}

/// The items of a stream, with `None` after each idle interval.
pub(super) fn with_keep_alive<T>(
    items: impl Stream<Item = T> + Send + 'static,
) -> impl Stream<Item = Option<T>> + Send
where
    T: Send + 'static,
{
    stream::unfold(Box::pin(items), |mut items| async move {
        match tokio::time::timeout(KEEP_ALIVE_INTERVAL, items.next()).await {
            Ok(item) => Some((Some(item?), items)),
            Err(_) => Some((None, items)),
        }
    })
}

/// The messages of one call, ended by `too_late` at the deadline. Records the operation.
pub(super) fn until(
    messages: BoxStream<'static, Message>,
    metrics: Metrics,
    operation: Operation,
    limit: Duration,
    too_late: Message,
) -> impl Stream<Item = Message> + Send {
    let deadline = operation.started() + limit;
    let state = Some((messages, metrics, operation, too_late));
    stream::unfold(state, move |state| async move {
        let (mut messages, metrics, operation, too_late) = state?;
        let message = match tokio::time::timeout_at(deadline.into(), messages.next()).await {
            Ok(message) => message?,
            Err(_) => too_late.clone(),
        };
        if matches!(message, Message::Notification(_)) {
            return Some((message, Some((messages, metrics, operation, too_late))));
        }
        operation.end(&metrics, &message);
        Some((message, None))
    })
}

fn event(mcp: &Mcp, message: Message) -> Bytes {
    // Compact JSON has no line breaks.
    let json = mcp.encode(message);
    Bytes::from([b"data: ", json.as_slice(), b"\n\n"].concat())
}
