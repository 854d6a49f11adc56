//! The MCP transports: Streamable HTTP at `/mcp` and `/{service}/mcp` for all protocol versions, and stdio.
//!
//! MCP 2026-07-28 ("modern") is dispatched by `lyceum_tools::mcp` without a session. Earlier versions ("legacy") get a
//! session, held by `rmcp`, that calls the same verbs. The request itself says which version it is in.

mod card;
mod legacy;
mod modern;
mod session;
mod sse;
mod stdio;

use std::{sync::Arc, time::Instant};

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header, request::Parts};
use lyceum_model::{Caller, Domain, ErrorCode};
use lyceum_tools::{
    View,
    mcp::{ErrorData, Incoming, MODERN, Message, ProtocolVersion, Refusal, SUPPORTED_VERSIONS, add_code},
};
use tracing::{Span, level_filters::LevelFilter};

pub(crate) use legacy::{Legacy, Shared};
pub(crate) use stdio::serve_stdio;

use crate::{
    app::App,
    http::{
        Admission, ApiError, BodyLimit, ClientAddr, Cors, Protocol, RateClass, RequestBody, Route,
        challenge_denied, read_body,
    },
};

/// The path of the endpoint with all services.
pub(crate) const PATH: &str = "/mcp";

/// Log levels for `rmcp`, which logs the normal end of a stream as an error.
pub(crate) const LOG_LEVELS: [(&str, LevelFilter); 2] =
    [("rmcp", LevelFilter::WARN), ("rmcp::service", LevelFilter::OFF)];

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Who sent a request, and the service it is for at `/{service}/mcp`. Legacy sessions read it from every request,
/// since a session id proves nothing.
#[derive(Debug, Clone)]
pub(crate) struct McpContext {
    caller: Arc<Caller>,
    service: Option<Domain>,
    /// The span of the request, because a session runs in a task of its own.
    span: Span,
}

impl McpContext {
    fn new(view: &View, span: Span) -> Self {
        Self { caller: view.shared_caller(), service: view.service().cloned(), span }
    }
}

/// The routes.
pub(crate) fn routes() -> Vec<Route> {
    let endpoint = |route: Route| route.protocol(Protocol::Mcp).body(BodyLimit::Configured);
    vec![
        endpoint(Route::any(PATH, routed_endpoint)),
        endpoint(Route::any("/{service}/mcp", service_endpoint)),
        Route::get("/mcp/server-card", card::server_card).cors(Cors::AnyOrigin),
        Route::get("/{service}/mcp/server-card", card::service_server_card).cors(Cors::AnyOrigin),
        // It lists all services, so it needs a permitted caller.
        Route::get("/.well-known/ai-catalog.json", card::ai_catalog)
            .cors(Cors::AnyOrigin)
            .rate(RateClass::Own),
    ]
}

/// `/mcp`, called by the router.
async fn routed_endpoint(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(client): Extension<ClientAddr>,
    request: Request<Body>,
) -> Response {
    endpoint(&app, caller, client, request).await
}

/// `/mcp`: all services. The middleware calls it without the router.
pub(crate) async fn endpoint(
    app: &App,
    caller: Arc<Caller>,
    client: ClientAddr,
    request: Request<Body>,
) -> Response {
    let view = View::of_all(app.mcp.hub().registry(), caller);
    handle_signed_in(app, view, client, request).await
}

/// `/{service}/mcp`: one service.
async fn service_endpoint(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(client): Extension<ClientAddr>,
    Path(service): Path<String>,
    request: Request<Body>,
) -> Response {
    let Some(view) = View::of_service(app.mcp.hub().registry(), caller, &service) else {
        let message = "unknown service; GET /health lists the services";
        return refusal(&ApiError::new(ErrorCode::NotFound, message));
    };
    handle_signed_in(&app, view, client, request).await
}

/// Checks the owner of the session, if callers sign in, and ends streams when their token expires.
async fn handle_signed_in(app: &App, view: View, client: ClientAddr, mut request: Request<Body>) -> Response {
    let Some(auth) = &app.auth else { return handle_method(app, view, client, request).await };
    let caller = view.shared_caller();
    if let Err(refusal) = session::owner::unbind_request(auth, &caller, &mut request) {
        return *refusal;
    }
    let admission = if listens(&request) {
        Admission::of(app, &caller, request.uri().path(), request.headers())
    } else {
        None
    };
    let mut response = handle_method(app, view, client, request).await;
    if let Some(admission) = admission {
        response = admission.bound(response);
    }
    session::owner::bind_response(auth, &caller, &mut response);
    response
}

/// Whether the response is a long-lived stream. The header is trustworthy: `mirror.rs` rejects a mismatch with the
/// body.
fn listens(request: &Request<Body>) -> bool {
    let method = request.headers().get(MCP_METHOD);
    request.method() == Method::GET || method.is_some_and(|method| method == "subscriptions/listen")
}

/// Dispatches by HTTP method.
async fn handle_method(app: &App, view: View, client: ClientAddr, mut request: Request<Body>) -> Response {
    match *request.method() {
        // Boxed, because the futures around it are moved many times.
        Method::POST => Box::pin(handle_post(app, view, client, request)).await,
        // GET opens the stream of a session, DELETE ends the session; both need one.
        Method::GET | Method::DELETE if request.headers().contains_key(SESSION_ID) => {
            if let Err(refusal) = session::owner::enter(app, view.caller(), request.headers()).await {
                return *refusal;
            }
            let ends = request.method() == Method::DELETE;
            request.extensions_mut().insert(McpContext::new(&view, Span::none()));
            let mut response = app.legacy.handle(request).await;
            // The session has ended already, and some clients reject 202 here.
            if ends && response.status() == StatusCode::ACCEPTED {
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            response
        }
        _ => {
            let error = ApiError::new(ErrorCode::MethodNotAllowed, "send messages by POST");
            let mut response = refusal(&error);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            response
        }
    }
}

/// Reads and parses the message of a POST, and turns a denied call into a 401 or 403.
async fn handle_post(app: &App, view: View, client: ClientAddr, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let error = ErrorData::invalid_request("Content-Type: must be application/json", None);
        return rpc_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, Refusal { error, id: None });
    }
    let RequestBody { bytes, reservation: _reservation } =
        match read_body(app, view.caller(), &parts.headers, body).await {
            Ok(body) => body,
            Err(error) => return refusal(&error),
        };
    let incoming = match Incoming::parse(&bytes) {
        Ok(incoming) => incoming,
        Err(refusal) => return rpc_error(StatusCode::BAD_REQUEST, refusal),
    };
    let denial = match &incoming {
        Incoming::Request(request) if request.method == "tools/call" => {
            request.name().and_then(|name| view.denial(name))
        }
        Incoming::Request(_) | Incoming::Notification { .. } | Incoming::Response => None,
    };
    let denied = denial.map(|denied| (denied, view.shared_caller(), parts.uri.path().to_owned()));
    let mut response = handle_message(app, view, client, parts, bytes, incoming).await;
    if let Some((denied, caller, path)) = denied.filter(|_| response.status().is_success()) {
        challenge_denied(app, &mut response, &path, &caller, &denied);
    }
    response
}

/// Dispatches by protocol version.
async fn handle_message(
    app: &App,
    view: View,
    client: ClientAddr,
    parts: Parts,
    bytes: Bytes,
    incoming: Incoming,
) -> Response {
    match era(&parts.headers, &incoming) {
        Era::Legacy => handle_legacy(app, view, client, parts, bytes, incoming).await,
        Era::Modern => match incoming {
            Incoming::Request(request) => modern::respond(app, view, request, &parts.headers).await,
            Incoming::Notification { .. } => StatusCode::ACCEPTED.into_response(),
            Incoming::Response => {
                let error = ErrorData::invalid_request(
                    "JSON-RPC responses are not accepted; send inputResponses with the next call",
                    None,
                );
                rpc_error(StatusCode::BAD_REQUEST, Refusal { error, id: None })
            }
        },
    }
}

/// Hands a message of an earlier protocol version to its session.
async fn handle_legacy(
    app: &App,
    view: View,
    client: ClientAddr,
    mut parts: Parts,
    bytes: Bytes,
    incoming: Incoming,
) -> Response {
    let opens = matches!(&incoming, Incoming::Request(request) if request.method == "initialize");
    if !opens && !parts.headers.contains_key(SESSION_ID) {
        let text = format!(
            "no session; send initialize first, or use {MODERN} with MCP-Protocol-Version and params._meta"
        );
        let id = match incoming {
            Incoming::Request(request) => Some(request.id),
            Incoming::Notification { .. } | Incoming::Response => None,
        };
        return rpc_error(
            StatusCode::BAD_REQUEST,
            Refusal { error: ErrorData::invalid_request(text, None), id },
        );
    }
    if parts.headers.contains_key(SESSION_ID) {
        if let Err(refusal) = session::owner::enter(app, view.caller(), &parts.headers).await {
            return *refusal;
        }
    } else if view.caller().subject().is_none()
        && let Err(seconds) = app.session_rate.count(client, Instant::now())
    {
        let message = "too many new sessions from this address; retry later";
        return refusal(&ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds));
    }
    parts.extensions.insert(McpContext::new(&view, Span::current()));
    let session = parts.headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    match (session, incoming) {
        (Some(session), Incoming::Request(request)) if request.method == "tools/call" => {
            app.legacy.call(&session, parts, bytes).await
        }
        _ => app.legacy.handle(Request::from_parts(parts, Body::from(bytes))).await,
    }
}

enum Era {
    Modern,
    Legacy,
}

/// A request is modern if its body names a version, or its header any version but the earlier ones.
fn era(headers: &HeaderMap, incoming: &Incoming) -> Era {
    let in_body = matches!(incoming, Incoming::Request(request) if request.version().is_some());
    let in_header = headers.get(PROTOCOL_VERSION).is_some_and(|version| {
        !SUPPORTED_VERSIONS
            .iter()
            .any(|known| *known != MODERN && known.as_str().as_bytes() == version.as_bytes())
    });
    if in_body || in_header { Era::Modern } else { Era::Legacy }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// A JSON-RPC error without an id, for a request whose message was not parsed.
pub(crate) fn refusal(error: &ApiError) -> Response {
    let failed = lyceum_tools::Error::Failed { code: error.code, message: error.message.clone() };
    let data = lyceum_tools::mcp::error_data(&failed);
    let mut response = rpc_error(error.status(), Refusal { error: data, id: None });
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn rpc_error(status: StatusCode, mut refusal: Refusal) -> Response {
    add_code(&mut refusal.error);
    (status, Json(Message::error(refusal.error, refusal.id))).into_response()
}

/// Whether a version is a supported one before 2026-07-28.
fn is_older(version: &ProtocolVersion) -> bool {
    *version != MODERN && SUPPORTED_VERSIONS.contains(version)
}
