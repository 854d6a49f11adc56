//! What pages in a browser may send and read, by the row of the route table and the configuration.
//!
//! `Origin` is judged only where it is sent: programs send none.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};

use super::{Origin, route::Cors};
use crate::app::App;

/// What holds for the page that sends one request.
pub(super) struct Page {
    /// Whether the request reads what the API publishes: caches keep such answers.
    is_read: bool,
    /// Whether every page may read the answer.
    is_open: bool,
    /// The page, where it may call.
    allowed: Option<HeaderValue>,
    /// The headers that it wants to send.
    headers: Option<HeaderValue>,
    /// Whether there is a page that may not call.
    pub(super) is_refused: bool,
}

/// The method that a request is about: a browser asks by OPTIONS before it sends another.
pub(super) fn method_meant(request: &Request<Body>) -> Method {
    let meant = match *request.method() {
        Method::OPTIONS => request.headers().get(header::ACCESS_CONTROL_REQUEST_METHOD),
        _ => None,
    };
    let meant = meant.and_then(|method| Method::from_bytes(method.as_bytes()).ok());
    meant.unwrap_or_else(|| request.method().clone())
}

impl Page {
    /// Judges the page that sends a request.
    pub(super) fn of(app: &App, cors: Cors, request: &Request<Body>) -> Self {
        let is_read = is_read(cors, request.method());
        let is_open = is_read && app.config.is_public();
        let origin = request.headers().get(header::ORIGIN);
        let allowed = origin.filter(|origin| cors == Cors::AnyOrigin || is_allowed(app, origin));
        let is_refused = origin.is_some() && allowed.is_none() && !is_open;
        let headers = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS);
        Self { is_read, is_open, allowed: allowed.cloned(), headers: headers.cloned(), is_refused }
    }

    /// The answer to a browser that asks before it sends; the headers come later.
    pub(super) fn preflight(&self, method: &Method) -> Option<Response> {
        if *method != Method::OPTIONS {
            return None;
        }
        if self.is_open {
            return Some(preflight_of_read());
        }
        self.allowed.as_ref().map(|_| StatusCode::NO_CONTENT.into_response())
    }

    /// Adds what browsers and caches need to know of an answer.
    pub(super) fn finish(self, app: &App, response: &mut Response) {
        if self.is_read {
            forbid_caching_refusals(response);
            if app.auth.is_some() && !app.config.is_public() {
                mark_private(response.headers_mut());
            }
        }
        if self.is_open {
            open_to_all(response.headers_mut());
        } else if let Some(origin) = self.allowed {
            allow(response.headers_mut(), origin, self.headers);
        }
    }
}

/// Whether a request only reads what may be for every page.
pub(super) fn is_read(cors: Cors, method: &Method) -> bool {
    cors == Cors::PublicRead && matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn is_allowed(app: &App, origin: &HeaderValue) -> bool {
    let Some(origin) = origin.to_str().ok().and_then(Origin::parse) else { return false };
    let config = &app.config;
    let is_own = || config.public_url.as_deref().and_then(Origin::parse).is_some_and(|own| own == origin);
    config.allowed_origins.contains(&origin)
        || is_own()
        || (config.listen.ip().is_loopback() && origin.is_loopback())
}

/// Answers an allowed page needs before a browser lets it read ours.
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
    // An allowed page may send any header, such as the `Mcp-Param-…` of a tool's own choice.
    if let Some(requested_headers) = requested_headers {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested_headers);
    }
}

/// Lets any page see the answer to a read: the same for all of them, and never for credentials.
fn open_to_all(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("ETag, Retry-After, X-Request-ID"),
    );
}

/// A refusal is not to be kept by a cache.
fn forbid_caching_refusals(response: &mut Response) {
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// What is for those who signed in is not to be kept by a cache that others ask too.
fn mark_private(headers: &mut HeaderMap) {
    let kept = headers.get(header::CACHE_CONTROL).and_then(|kept| kept.to_str().ok()).unwrap_or_default();
    if kept.starts_with("public") {
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
