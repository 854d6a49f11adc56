//! Fast path of `tools/call` in a session, the most frequent request.
//!
//! The general path deserializes a message as any of twenty kinds and always responds with a stream of three events.
//! Here it is deserialized as what it is, and a call that is quick and sends no notifications gets one JSON body. A
//! call that takes longer, reports progress or asks for input gets a stream with ids to resume it.

use std::{convert::Infallible, fmt::Write, time::Duration};

use super::super::{
    session::{RequestGuard, Sessions},
    sse,
};
use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http::{StatusCode, request::Parts};
use rmcp::{
    model::{CallToolRequest, ClientJsonRpcMessage, ClientRequest, JsonRpcRequest},
    transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager},
};

/// How long a call may take before the response becomes a stream.
const STREAM_DELAY: Duration = Duration::from_millis(100);

/// Calls a tool in a session that is in memory; returns the request if it is not.
pub(super) async fn call(
    sessions: &Sessions,
    session: SessionId,
    parts: Parts,
    bytes: &Bytes,
) -> Result<Response, Parts> {
    let busy = sessions.enter(&session);
    if !matches!(sessions.has_session(&session).await, Ok(true)) {
        return Err(parts);
    }
    let Ok(mut request) = serde_json::from_slice::<JsonRpcRequest<CallToolRequest>>(bytes) else {
        return Err(parts);
    };
    request.request.extensions.insert(parts);
    let message = ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request.request), request.id);
    match sessions.create_stream(&session, message).await {
        Ok(messages) => Ok(quick_or_stream(messages.boxed(), busy).await),
        // The session ended at this moment; the client gets 404 and reconnects.
        Err(_) => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

/// Responds with one JSON body if the result comes first and quickly, else with an event stream.
async fn quick_or_stream(
    mut messages: stream::BoxStream<'static, ServerSseMessage>,
    busy: RequestGuard,
) -> Response {
    let mut before = Vec::new();
    let deadline = tokio::time::Instant::now() + STREAM_DELAY;
    while let Ok(Some(event)) = tokio::time::timeout_at(deadline, messages.next()).await {
        match &event.message {
            // The event that opens a stream, with the id to resume it.
            None => before.push(event),
            Some(message) if is_response(message) => return Json(&**message).into_response(),
            Some(_) => {
                before.push(event);
                break;
            }
        }
    }
    // Not ended by shutdown: in-flight calls may finish.
    let events = stream::iter(before).chain(messages).inspect(move |_| {
        let _until_body_ends = &busy;
    });
    sse::response(body(events))
}

fn is_response(message: &rmcp::model::ServerJsonRpcMessage) -> bool {
    use rmcp::model::JsonRpcMessage;
    matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
}

fn body(events: impl Stream<Item = ServerSseMessage> + Send + 'static) -> Body {
    let frames = sse::with_keep_alive(events).map(|event| {
        let frame = event.map_or_else(|| Bytes::from_static(sse::KEEP_ALIVE_COMMENT), |event| frame(&event));
        Ok::<_, Infallible>(frame)
    });
    Body::from_stream(frames)
}

fn frame(event: &ServerSseMessage) -> Bytes {
    let mut text = String::new();
    // Writing to a string can't fail.
    if let Some(id) = &event.event_id {
        let _written = writeln!(text, "id: {id}");
    }
    if let Some(retry) = event.retry {
        let _written = writeln!(text, "retry: {}", retry.as_millis());
    }
    let data = event.message.as_deref().map(|message| serde_json::to_string(message).unwrap_or_default());
    let _written = write!(text, "data: {}\n\n", data.unwrap_or_default());
    Bytes::from(text)
}
