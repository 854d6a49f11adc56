//! Who sends a request, and how a client is told what is missing.

use std::{collections::BTreeSet, time::Instant};

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::Timestamp;
use lyceum_auth::{Auth, NotAdmitted};
use lyceum_model::{Caller, ErrorCode, MCP_READ, Scope};
use lyceum_tools::Denied;

use super::{
    super::{ApiError, ClientAddr},
    RESOURCE,
};
use crate::{app::App, mcp};

/// The caller of a request, or the answer to one that is not let in.
pub(crate) async fn admit(
    app: &App,
    auth: &Auth,
    client: ClientAddr,
    path: &str,
    headers: &HeaderMap,
) -> Result<Caller, Response> {
    let sent = match (Door::of(path), token(headers)) {
        (Door::Open, _) | (Door::Greets, Ok(None)) => return Ok(Caller::anonymous()),
        (Door::Greets | Door::Asks, sent) => sent,
    };
    let token = sent.map_err(|refused| refusal(app, path, refused))?;
    let (resource, now) = (resource_at(auth, path), Timestamp::now());
    if token.is_some_and(|token| auth.is_new(token, now)) {
        app.token_rate.count(client, Instant::now()).map_err(|seconds| {
            let message = "too many tokens that are not known come from this address; try again later";
            let told = ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds);
            answer(path, told)
        })?;
    }
    let admitted = auth.admit_from(Some(client.network()), token, &resource, now).await;
    admitted.map_err(|refused| refusal(app, path, refused))
}

/// An error in the words of the endpoint that was meant.
fn answer(path: &str, told: ApiError) -> Response {
    if path.ends_with("/mcp") { mcp::refusal(&told) } else { told.into_response() }
}

/// The answer to a request that only somebody known may send.
pub(super) fn sign_in_first(app: &App, path: &str) -> Response {
    refusal(app, path, NotAdmitted::NoToken)
}

fn refusal(app: &App, path: &str, refused: NotAdmitted) -> Response {
    let (code, error) = match refused {
        NotAdmitted::NoToken => (ErrorCode::Unauthorized, None),
        NotAdmitted::BadToken => (ErrorCode::Unauthorized, Some("invalid_token")),
        NotAdmitted::Unavailable => (ErrorCode::Unavailable, None),
    };
    let mut told = ApiError::new(code, refused.to_string());
    if code == ErrorCode::Unavailable {
        told = told.retry_after(5);
    }
    let mut response = answer(path, told);
    if code == ErrorCode::Unauthorized {
        // What the request needs is not known here; a client then asks for what the metadata of the resource lists.
        challenge(app, response.headers_mut(), path, error, &BTreeSet::new());
    }
    response
}

/// Turns the answer to a call that the gate refused into one that tells a client what to ask the person for.
pub(crate) fn challenge_denied(
    app: &App,
    response: &mut Response,
    path: &str,
    caller: &Caller,
    denied: &Denied,
) {
    // What a client asks the person for takes the place of what it had, so that goes with it.
    let least = MCP_READ;
    let scopes = denied.needed.iter().chain(caller.scopes()).chain([&least]).collect();
    let (status, error) = match caller.subject() {
        None => (StatusCode::UNAUTHORIZED, None),
        Some(_) => (StatusCode::FORBIDDEN, Some("insufficient_scope")),
    };
    *response.status_mut() = status;
    challenge(app, response.headers_mut(), path, error, &scopes);
}

/// Whether it matters who sends a request for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// It does not: whoever comes here can't have signed in yet, or proves who they are in another way.
    Open,
    /// Strangers get a bare status, or are told where to sign in; who signs in gets more.
    Greets,
    /// It does. Every path that is not named asks, so that a new one is closed until somebody opens it.
    Asks,
}

impl Door {
    fn of(path: &str) -> Self {
        match path {
            "/" | "/health" | "/readyz" => Self::Greets,
            // It names every service.
            "/.well-known/ai-catalog.json" => Self::Asks,
            "/livez" | "/token" | "/register" | "/revoke" | "/authorize" | "/github/callback"
            | "/webhooks/github" => Self::Open,
            _ if ["/.well-known/", "/authorize/", "/siwe/"].iter().any(|open| path.starts_with(open)) => {
                Self::Open
            }
            _ => Self::Asks,
        }
    }
}

/// The address of the resource that a path belongs to.
pub(super) fn resource_at(auth: &Auth, path: &str) -> String {
    format!("{}{}", auth.issuer(), resource_of(path))
}

/// The resource that a path belongs to: itself where it speaks MCP, else that of the whole server.
fn resource_of(path: &str) -> &str {
    if path.ends_with("/mcp") { path } else { "/mcp" }
}

/// The token of a request. It is sent in one header, and nowhere else.
pub(super) fn token(headers: &HeaderMap) -> Result<Option<&str>, NotAdmitted> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    match (sent.next(), sent.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let text = value.to_str().map_err(|_| NotAdmitted::BadToken)?;
            let (scheme, token) = text.split_once(' ').ok_or(NotAdmitted::BadToken)?;
            if scheme.eq_ignore_ascii_case("bearer") {
                Ok(Some(token.trim()))
            } else {
                Err(NotAdmitted::BadToken)
            }
        }
        (Some(_), Some(_)) => Err(NotAdmitted::BadToken),
    }
}

fn challenge(app: &App, headers: &mut HeaderMap, path: &str, error: Option<&str>, scopes: &BTreeSet<&Scope>) {
    let mut parts: Vec<String> = error.map(|error| format!("error=\"{error}\"")).into_iter().collect();
    if let Some(auth) = app.auth.as_ref().filter(|_| app.has_sign_in()) {
        let (issuer, path) = (auth.issuer(), resource_of(path));
        parts.push(format!("resource_metadata=\"{issuer}{RESOURCE}{path}\""));
        if !scopes.is_empty() {
            let names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
            parts.push(format!("scope=\"{}\"", names.join(" ")));
        }
    }
    let text = format!("Bearer {}", parts.join(", "));
    if let Ok(value) = HeaderValue::try_from(text.trim()) {
        headers.insert(header::WWW_AUTHENTICATE, value);
    }
}
