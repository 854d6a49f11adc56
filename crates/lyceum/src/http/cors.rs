//! CORS and `Origin` checks, by route and configuration.
//!
//! `Origin` is checked only if it is sent: programs send none.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};

use super::{Origin, route::Cors};
use crate::app::App;

/// The CORS decision for one request.
pub(super) struct CorsDecision {
    /// Whether the request reads published content, which caches may store.
    is_read: bool,
    /// Whether every origin may read the response.
    is_open: bool,
    /// The origin, if it is allowed.
    allowed: Option<HeaderValue>,
    /// The requested headers of a preflight.
    headers: Option<HeaderValue>,
    /// Whether the origin is not allowed.
    pub(super) is_refused: bool,
}

/// The method that counts for routing: for a preflight, the one that the browser is about to send.
pub(super) fn effective_method(request: &Request<Body>) -> Method {
    let requested = match *request.method() {
        Method::OPTIONS => request.headers().get(header::ACCESS_CONTROL_REQUEST_METHOD),
        _ => None,
    };
    let requested = requested.and_then(|method| Method::from_bytes(method.as_bytes()).ok());
    requested.unwrap_or_else(|| request.method().clone())
}

impl CorsDecision {
    /// Decides for a request.
    pub(super) fn of(app: &App, cors: Cors, request: &Request<Body>) -> Self {
        let is_read = is_read(cors, request.method());
        let is_open = is_read && cors == Cors::PublicRead && app.config.is_public();
        let origin = request.headers().get(header::ORIGIN);
        let allowed = origin.filter(|origin| cors == Cors::AnyOrigin || is_allowed(app, origin));
        let is_refused = origin.is_some() && allowed.is_none() && !is_open;
        let headers = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS);
        Self { is_read, is_open, allowed: allowed.cloned(), headers: headers.cloned(), is_refused }
    }

    /// The response to a preflight; `finish` adds the headers.
    pub(super) fn preflight(&self, method: &Method) -> Option<Response> {
        if *method != Method::OPTIONS {
            return None;
        }
        if self.is_open {
            return Some(preflight_of_read());
        }
        self.allowed.as_ref().map(|_| StatusCode::NO_CONTENT.into_response())
    }

    /// Adds CORS and cache headers to a response.
    pub(super) fn finish(self, app: &App, response: &mut Response) {
        if self.is_read {
            forbid_caching_errors(response);
            if app.auth.is_some() && !self.is_open {
                mark_private(response.headers_mut());
            }
        }
        if self.is_open {
            allow_every_origin(response.headers_mut());
        } else if let Some(origin) = self.allowed {
            allow(response.headers_mut(), origin, self.headers);
        }
    }
}

/// Whether a request only reads published content.
pub(super) fn is_read(cors: Cors, method: &Method) -> bool {
    matches!(cors, Cors::PublicRead | Cors::MemberRead)
        && matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn is_allowed(app: &App, origin: &HeaderValue) -> bool {
    let Some(origin) = origin.to_str().ok().and_then(Origin::parse) else { return false };
    let config = &app.config;
    let is_own = || config.public_url.as_deref().and_then(Origin::parse).is_some_and(|own| own == origin);
    config.allowed_origins.contains(&origin)
        || is_own()
        || (config.listen.ip().is_loopback() && origin.is_loopback())
}

/// Adds the CORS headers for an allowed origin.
fn allow(headers: &mut HeaderMap, origin: HeaderValue, requested_headers: Option<HeaderValue>) {
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
    // An allowed page may send any header, such as `Mcp-Param-…`.
    if let Some(requested_headers) = requested_headers {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested_headers);
    }
}

/// Lets every origin read a response, without credentials.
fn allow_every_origin(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("ETag, Retry-After, X-Request-ID"),
    );
}

/// Forbids caching of errors.
fn forbid_caching_errors(response: &mut Response) {
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Forbids shared caches to store content for signed-in callers.
fn mark_private(headers: &mut HeaderMap) {
    let cache_control =
        headers.get(header::CACHE_CONTROL).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if cache_control.starts_with("public") {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"));
    }
    headers.append(header::VARY, HeaderValue::from_static("Authorization"));
}

fn preflight_of_read() -> Response {
    let mut headers = HeaderMap::new();
    let fixed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "*"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    (StatusCode::NO_CONTENT, headers).into_response()
}
