//! Messages as server-sent events: one compact `data:` line each, a comment now and then so that nobody hangs up.

use std::{
    convert::Infallible,
    time::{Duration, Instant},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures::{
    Stream, StreamExt,
    stream::{self, BoxStream},
};
use http::{HeaderValue, header};
use lyceum_tools::mcp::Message;

use crate::telemetry::Operation;

/// How long a stream may be silent before a comment is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream of events as an answer.
pub(super) fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that buffer would hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// One message as a whole stream.
pub(super) fn one(message: &Message) -> Response {
    response(Body::from(event(message)))
}

/// Messages as events; `None` stands for silence, and becomes a comment.
pub(super) fn events(messages: impl Stream<Item = Option<Message>> + Send + 'static) -> Body {
    let messages = Box::pin(messages);
    let frames = stream::unfold(messages, |mut messages| async move {
        let frame = match tokio::time::timeout(KEEP_ALIVE, messages.next()).await {
            Ok(None) => return None,
            Ok(Some(Some(message))) => event(&message),
            Ok(Some(None)) | Err(_) => Bytes::from_static(b":\n\n"),
        };
        Some((Ok::<_, Infallible>(frame), messages))
    });
    Body::from_stream(frames)
}

/// The messages of one call, ended by `too_late` where the answer does not come in time. Measures the call.
pub(super) fn until(
    messages: BoxStream<'static, Message>,
    deadline: Instant,
    operation: Operation,
    too_late: Message,
) -> impl Stream<Item = Option<Message>> + Send {
    let state = Some((messages, operation, too_late));
    stream::unfold(state, move |state| async move {
        let (mut messages, operation, too_late) = state?;
        let message = match tokio::time::timeout_at(deadline.into(), messages.next()).await {
            Ok(message) => message?,
            Err(_) => too_late.clone(),
        };
        if matches!(message, Message::Notification(_)) {
            return Some((Some(message), Some((messages, operation, too_late))));
        }
        operation.end(&message);
        Some((Some(message), None))
    })
}

fn event(message: &Message) -> Bytes {
    let mut text = Vec::with_capacity(256);
    text.extend_from_slice(b"data: ");
    // JSON of our own types; compact, so without line breaks.
    let _written = serde_json::to_writer(&mut text, message);
    text.extend_from_slice(b"\n\n");
    Bytes::from(text)
}
