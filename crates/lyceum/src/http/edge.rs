//! The edge: what every request passes before it reaches an endpoint, and every answer after.
//!
//! In order: an id, the log, the drain, `Host`, `Origin`, CORS, the caller; then the router, with panics contained.

use std::{convert::Infallible, net::IpAddr, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use axum::{
    Router,
    body::Body,
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use lyceum_model::{Caller, ErrorCode};
use tower_service::Service;

use super::{
    ApiError, ClientAddr, Origin, api, auth,
    connections::Serves,
    log::RequestLog,
    throttle::{Class, hold_back},
};
use crate::{app::App, mcp};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Handles one request, whatever comes of it.
pub(super) async fn handle(
    app: App,
    router: Router,
    peer: IpAddr,
    serves: Serves,
    request: Request<Body>,
) -> Result<Response, Infallible> {
    let id = app.request_ids.of(request.headers().get(REQUEST_ID));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut log = RequestLog::begin(app, id.clone(), method, path);
    let is_read = api::is_read(request.method(), request.uri().path());
    let is_open = is_read && log.app.config.is_public();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let welcome = origin.filter(|origin| is_discovery(&log.path) || origin_is_allowed(&log.app, origin));
    let asked = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let client = ClientAddr::of_request(peer, request.headers(), &log.app.config.trusted_proxies);
    let mut response = match admit(&log.app, client, serves, &request) {
        Err(error) => {
            if error.code == ErrorCode::RateLimited {
                hold_back().await;
            }
            refuse(&log.path, error)
        }
        Ok(()) if request.method() == Method::OPTIONS && is_open => api::preflight(),
        Ok(()) if request.method() == Method::OPTIONS && welcome.is_some() => {
            StatusCode::NO_CONTENT.into_response()
        }
        Ok(()) => {
            let work = AssertUnwindSafe(route(log.app.clone(), router, client, request)).catch_unwind();
            work.await.unwrap_or_else(|_| panicked(&log.path))
        }
    };
    response.headers_mut().insert(REQUEST_ID, id);
    if is_read {
        api::keep_no_refusal(&mut response);
        if log.app.auth.is_some() && !log.app.config.is_public() {
            api::keep_to_oneself(response.headers_mut());
        }
    }
    if is_open {
        api::open_to_all(response.headers_mut());
    } else if let Some(origin) = welcome {
        allow_origin(response.headers_mut(), origin, asked);
    }
    log.status = response.status();
    Ok(response.map(|body| log.until_end_of(body)))
}

/// Sends a request to its endpoint, together with who sends it.
async fn route(app: App, mut router: Router, client: ClientAddr, mut request: Request<Body>) -> Response {
    let caller = match &app.auth {
        None => app.caller.clone(),
        Some(auth) => {
            let path = request.uri().path();
            let admitted = auth::admit(&app, auth, client, path, request.headers()).await;
            let is_stranger = admitted.as_ref().map_or(true, Caller::is_anonymous);
            if is_stranger && let Err(error) = app.throttle.turn(client, Class::of(path)).await {
                return refuse(path, error);
            }
            match admitted {
                Ok(caller) => Arc::new(caller),
                Err(refusal) => return refusal,
            }
        }
    };
    // Most requests are for the one URL, and the router would cost a tenth of such a request.
    if request.uri().path() == "/mcp" {
        return mcp::endpoint(app, caller, client, request).await;
    }
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(client);
    router.call(request).await.unwrap_or_else(|never| match never {})
}

/// Lets a request in, or says why not.
fn admit(app: &App, client: ClientAddr, serves: Serves, request: &Request<Body>) -> Result<(), ApiError> {
    let path = request.uri().path();
    if serves == Serves::Probes && !is_probe(path) {
        let message =
            "the server has as many connections as it takes (limits.connections); try again in a moment";
        return Err(ApiError::new(ErrorCode::Unavailable, message).retry_after(1));
    }
    if app.drain.is_draining() && !is_probe(path) {
        let message = "the server is about to stop; try again in a moment";
        return Err(ApiError::new(ErrorCode::Unavailable, message).retry_after(1));
    }
    if auth::is_counted(path) {
        app.sign_in_rate.count(client, Instant::now()).map_err(|seconds| {
            let message = "too many sign-ins and token requests come from this address; try again later";
            ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds)
        })?;
    }
    let host = host_of(request).map_err(|message| ApiError::new(ErrorCode::ValidationError, message))?;
    if !app.config.hosts.allows(host) {
        let message = "this server is not known by the name in Host; add it to server.allowed_hosts, or set server.public_url";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    match request.headers().get(header::ORIGIN) {
        Some(origin) if !is_for_any_page(app, request) && !origin_is_allowed(app, origin) => {
            let message = "pages of this origin may not call; add it to server.allowed_origins";
            Err(ApiError::new(ErrorCode::Forbidden, message))
        }
        _ => Ok(()),
    }
}

/// The host that the request names: once, in the header or in the target.
fn host_of(request: &Request<Body>) -> Result<&str, &'static str> {
    let mut sent = request.headers().get_all(header::HOST).iter();
    match (sent.next(), sent.next()) {
        (Some(host), None) => host.to_str().map_err(|_| "Host: must be visible ASCII"),
        (Some(_), Some(_)) => Err("Host: must be sent once"),
        (None, _) => request.uri().host().ok_or("Host: is missing"),
    }
}

fn origin_is_allowed(app: &App, origin: &HeaderValue) -> bool {
    let Some(origin) = origin.to_str().ok().and_then(Origin::parse) else { return false };
    let config = &app.config;
    let is_own = || config.public_url.as_deref().and_then(Origin::parse).is_some_and(|own| own == origin);
    config.allowed_origins.contains(&origin)
        || is_own()
        || (config.listen.ip().is_loopback() && origin.is_loopback())
}

/// Answers an allowed page needs before a browser lets it read ours.
fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue, asked: Option<HeaderValue>) {
    if headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        return;
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let fixed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, Accept, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, \
             Mcp-Session-Id, X-Request-ID",
        ),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "Mcp-Session-Id, WWW-Authenticate, X-Request-ID"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // An allowed page may send any header, such as the `Mcp-Param-…` of a tool's own choice.
    if let Some(asked) = asked {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked);
    }
}

/// Probes are answered to the last.
fn is_probe(path: &str) -> bool {
    matches!(path, "/livez" | "/readyz" | "/health" | "/metrics")
}

/// Whether any page may send this.
fn is_for_any_page(app: &App, request: &Request<Body>) -> bool {
    let path = request.uri().path();
    is_discovery(path) || (app.config.is_public() && api::is_read(request.method(), path))
}

/// What says where the server is may be read by any page.
fn is_discovery(path: &str) -> bool {
    path.starts_with("/.well-known/") || path.ends_with("/mcp/server-card") || auth::is_for_clients(path)
}

/// A refusal, in the words of the endpoint that was meant.
fn refuse(path: &str, error: ApiError) -> Response {
    if path.ends_with("/mcp") { mcp::refusal(&error) } else { error.into_response() }
}

fn panicked(path: &str) -> Response {
    tracing::error!("a handler panicked");
    refuse(path, ApiError::new(ErrorCode::InternalError, "an unexpected error occurred"))
}
