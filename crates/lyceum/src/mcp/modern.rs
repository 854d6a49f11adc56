//! MCP 2026-07-28 over HTTP: one POST, one response, as JSON or as an SSE stream.

use std::time::Duration;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{self, AsHeaderName},
};
use lyceum_tools::{
    View,
    mcp::{Header, Message, Mirror, Reply, Request, RequestId, RpcCode, error_data},
};

use super::{MCP_METHOD, PROTOCOL_VERSION, sse};
use crate::{
    app::{self, App},
    deadline::within,
    telemetry::{Metrics, Operation, span},
};

const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Dispatches one request and writes the HTTP response.
pub(super) async fn respond(app: &App, view: View, request: Box<Request>, headers: &HeaderMap) -> Response {
    let accepts = Accepts::of(headers);
    span::link_to(request.meta.traceparent());
    let operation = Operation::begin(&view, &request.method, request.name());
    let (id, listens) = (request.id.clone(), request.method == "subscriptions/listen");
    if listens && !accepts.events {
        return StatusCode::NOT_ACCEPTABLE.into_response();
    }
    let mirror = Mirror {
        version: header_value(headers, PROTOCOL_VERSION),
        method: header_value(headers, MCP_METHOD),
        name: header_value(headers, NAME),
        other: &|name| header_value(headers, name),
    };
    let limit = deadline(&view, &request, app.config.limits.call);
    let reply = within(limit, app.mcp.dispatch(view, request, Some(&mirror))).await;
    match reply.unwrap_or_else(|_| Reply::One(Box::new(too_late(id.clone())))) {
        Reply::Refused(message) => json(app, status(&message, StatusCode::BAD_REQUEST), *message),
        Reply::One(message) => {
            operation.end(&app.metrics, &message);
            if accepts.json {
                json(app, status(&message, StatusCode::OK), *message)
            } else {
                sse::one(&app.mcp, *message)
            }
        }
        Reply::Stream(messages) if listens => sse::response(sse::events(app.mcp.clone(), messages)),
        Reply::Stream(messages) => {
            let messages = sse::until(messages, app.metrics.clone(), operation, limit, too_late(id));
            if accepts.events {
                sse::response(sse::events(app.mcp.clone(), messages))
            } else {
                last_message(app, messages).await
            }
        }
    }
}

/// The media types that the client accepts; without an `Accept` header, all.
struct Accepts {
    json: bool,
    events: bool,
}

impl Accepts {
    fn of(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
        let any = accept.contains("*/*");
        let events = any || accept.contains("text/event-stream");
        Self { json: any || accept.contains("application/json") || !events, events }
    }
}

fn header_value<'h>(headers: &'h HeaderMap, name: impl AsHeaderName) -> Header<'h> {
    let mut sent = headers.get_all(name).iter();
    match (sent.next(), sent.next()) {
        (None, _) => Header::Absent,
        (Some(value), None) => value.to_str().map_or(Header::Unreadable, Header::Text),
        (Some(_), Some(_)) => Header::Unreadable,
    }
}

/// For a client that accepts no stream: the response alone, without notifications.
async fn last_message(app: &App, messages: impl futures::Stream<Item = Message>) -> Response {
    let last = messages.fold(None, async |_, message| Some(message)).await;
    last.map_or_else(
        || StatusCode::NO_CONTENT.into_response(),
        |message| json(app, status(&message, StatusCode::OK), message),
    )
}

/// The HTTP status that the specification prescribes for an error code; otherwise the given one.
fn status(message: &Message, otherwise: StatusCode) -> StatusCode {
    match message {
        Message::Error(error) => match error.error.code {
            RpcCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            RpcCode::HEADER_MISMATCH
            | RpcCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | RpcCode::UNSUPPORTED_PROTOCOL_VERSION => StatusCode::BAD_REQUEST,
            _ => otherwise,
        },
        _ => otherwise,
    }
}

fn json(app: &App, status: StatusCode, message: Message) -> Response {
    let mut response = Response::new(Body::from(app.mcp.encode(message)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The timeout of a request: a tool may set its own.
pub(super) fn deadline(view: &View, request: &Request, limit: Duration) -> Duration {
    match (request.method.as_str(), request.name()) {
        ("tools/call", Some(name)) => view.deadline_of(name, limit),
        _ => limit,
    }
}

/// The response to a call that timed out.
pub(super) fn too_late(id: RequestId) -> Message {
    Message::error(error_data(&app::too_late()), Some(id))
}

impl Operation {
    /// Records the operation by its response.
    pub(super) fn end(self, metrics: &Metrics, message: &Message) {
        let error_type = match message {
            Message::Error(_) => "protocol_error",
            Message::Response(response) if response.result.is_tool_error() => "tool_error",
            _ => "",
        };
        self.finish(metrics, error_type);
    }
}
