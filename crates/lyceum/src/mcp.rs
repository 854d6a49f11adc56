//! The MCP doors: one URL for both eras, a service alone at its own URL, and stdio.
//!
//! The modern era (2026-07-28) is answered by `lyceum_tools::mcp` without a session. Older clients get a session,
//! held by `rmcp` and adapted onto the same verbs. Which era a request belongs to is read from the request itself.

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

pub(crate) use legacy::{Legacy, Shared};
pub(crate) use stdio::serve_stdio;

use crate::{
    app::App,
    http::{
        Admission, ApiError, BodyLimit, ClientAddr, Cors, Protocol, RateClass, RequestBody, Route,
        challenge_denied, read_body,
    },
};

/// The path of every service together.
pub(crate) const PATH: &str = "/mcp";

/// Log directives for the library behind older sessions: it reports each normal end of a stream as an error.
pub(crate) const QUIET: [&str; 2] = ["rmcp=warn", "rmcp::service=off"];

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// How a request came in: who sent it, and for which service where it is for one alone. Sessions of older clients
/// read it from each request, for a session is no proof of anything.
#[derive(Debug, Clone)]
pub(crate) struct Entrance {
    caller: Arc<Caller>,
    client: ClientAddr,
    service: Option<Domain>,
}

/// The routes.
pub(crate) fn routes() -> Vec<Route> {
    let endpoint = |route: Route| route.protocol(Protocol::Mcp).body(BodyLimit::Configured);
    vec![
        endpoint(Route::any(PATH, routed_endpoint)),
        endpoint(Route::any("/{service}/mcp", service_endpoint)),
        Route::get("/mcp/server-card", card::server_card).cors(Cors::AnyOrigin),
        Route::get("/{service}/mcp/server-card", card::service_server_card).cors(Cors::AnyOrigin),
        // It names every service, so that it is for callers.
        Route::get("/.well-known/ai-catalog.json", card::ai_catalog)
            .cors(Cors::AnyOrigin)
            .rate(RateClass::Own),
    ]
}

/// `/mcp`, as the router calls it.
async fn routed_endpoint(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(client): Extension<ClientAddr>,
    request: Request<Body>,
) -> Response {
    endpoint(app, caller, client, request).await
}

/// `/mcp`: every service. The edge calls it without the router.
pub(crate) async fn endpoint(
    app: App,
    caller: Arc<Caller>,
    client: ClientAddr,
    request: Request<Body>,
) -> Response {
    let view = View::of_all(app.mcp.hub().registry(), caller.clone());
    answer(app, view, Entrance { caller, client, service: None }, request).await
}

/// `/{service}/mcp`: one service alone.
async fn service_endpoint(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
    Extension(client): Extension<ClientAddr>,
    Path(service): Path<String>,
    request: Request<Body>,
) -> Response {
    let registry = app.mcp.hub().registry();
    let domain = registry.service(&service).cloned();
    let Some(view) = View::of_service(registry, caller.clone(), &service) else {
        let message = "no service of this name is on; GET /health names them";
        return refusal(&ApiError::new(ErrorCode::NotFound, message));
    };
    answer(app, view, Entrance { caller, client, service: domain }, request).await
}

async fn answer(app: App, view: View, entrance: Entrance, mut request: Request<Body>) -> Response {
    let Some(auth) = app.auth.clone() else { return answer_anyone(app, view, entrance, request).await };
    let caller = entrance.caller.clone();
    if let Err(refusal) = session::owner::come_in(&auth, &caller, &mut request) {
        return *refusal;
    }
    let admission = if listens(&request) {
        Admission::of(&app, &caller, request.uri().path(), request.headers())
    } else {
        None
    };
    let mut response = answer_anyone(app, view, entrance, request).await;
    if let Some(admission) = admission {
        response = admission.bound(response);
    }
    session::owner::go_out(&auth, &caller, &mut response);
    response
}

/// Whether the answer goes on for as long as its client listens. The header says what the body does, or it is refused.
fn listens(request: &Request<Body>) -> bool {
    let method = request.headers().get(MCP_METHOD);
    request.method() == Method::GET || method.is_some_and(|method| method == "subscriptions/listen")
}

async fn answer_anyone(app: App, view: View, entrance: Entrance, mut request: Request<Body>) -> Response {
    match *request.method() {
        // Boxed, for the layers around it move it many times.
        Method::POST => Box::pin(post(app, view, entrance, request)).await,
        // The stream and the end of a session; without a session there is neither.
        Method::GET | Method::DELETE if request.headers().contains_key(SESSION_ID) => {
            if let Err(refusal) = session::owner::enter(&app, &entrance.caller, request.headers()).await {
                return *refusal;
            }
            let ends = request.method() == Method::DELETE;
            request.extensions_mut().insert(entrance);
            let mut response = app.legacy.handle(request).await;
            // The session is gone by now, not later; some clients complain of an end that was only accepted.
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

async fn post(app: App, view: View, entrance: Entrance, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let error = ErrorData::invalid_request("Content-Type: must be application/json", None);
        return rpc_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, Refusal { error, id: None });
    }
    let RequestBody { bytes, held: _held } = match read_body(&app, view.caller(), &parts.headers, body).await
    {
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
    let (caller, path) = (entrance.caller.clone(), parts.uri.path().to_owned());
    let mut response = answer_message(app.clone(), view, entrance, parts, bytes, incoming).await;
    if let Some(denied) = denial.filter(|_| response.status().is_success()) {
        challenge_denied(&app, &mut response, &path, &caller, &denied);
    }
    response
}

async fn answer_message(
    app: App,
    view: View,
    entrance: Entrance,
    parts: Parts,
    bytes: Bytes,
    incoming: Incoming,
) -> Response {
    match era(&parts.headers, &incoming) {
        Era::Legacy => older(app, entrance, parts, bytes, incoming).await,
        Era::Modern => match incoming {
            Incoming::Request(request) => modern::answer(&app, view, request, &parts.headers).await,
            Incoming::Notification { .. } => StatusCode::ACCEPTED.into_response(),
            Incoming::Response => {
                let error =
                    ErrorData::invalid_request("answers are not taken: send them as inputResponses", None);
                rpc_error(StatusCode::BAD_REQUEST, Refusal { error, id: None })
            }
        },
    }
}

/// Hands a message of an older era to its session.
async fn older(app: App, entrance: Entrance, mut parts: Parts, bytes: Bytes, incoming: Incoming) -> Response {
    let opens = matches!(&incoming, Incoming::Request(request) if request.method == "initialize");
    if !opens && !parts.headers.contains_key(SESSION_ID) {
        let text = format!(
            "there is no session: send initialize first, or speak {MODERN} with MCP-Protocol-Version and params._meta"
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
        if let Err(refusal) = session::owner::enter(&app, &entrance.caller, &parts.headers).await {
            return *refusal;
        }
    } else if entrance.caller.subject().is_none()
        && let Err(seconds) = app.session_rate.count(entrance.client, Instant::now())
    {
        let message = "too many sessions are opened from this address; try again later";
        return refusal(&ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds));
    }
    parts.extensions.insert(entrance);
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

/// A request that names a version in its body, or any version but the older ones in its header, is modern.
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

/// A refusal before any message was read, as a JSON-RPC error without an id.
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

/// Whether a version is one of the older ones that are spoken.
fn is_older(version: &ProtocolVersion) -> bool {
    *version != MODERN && SUPPORTED_VERSIONS.contains(version)
}
