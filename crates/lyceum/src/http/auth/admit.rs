//! Authentication of requests, and the `WWW-Authenticate` challenges of 401 and 403 responses.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::Timestamp;
use lyceum_auth::{AdmissionError, Auth};
use lyceum_model::{Caller, ErrorCode, MCP_READ, Scope, Tier};
use lyceum_tools::Denied;

use super::{
    super::{
        ApiError, ClientAddr,
        route::{Audience, Policy},
    },
    PROTECTED_RESOURCE_PATH,
};
use crate::app::App;

/// Authenticates a request: its caller, or the response that refuses it.
pub(crate) async fn admit(
    app: &App,
    auth: &Auth,
    client: ClientAddr,
    policy: Policy,
    path: &str,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, Response> {
    let sent = match (policy.audience, token(headers)) {
        (Audience::Public, _) | (Audience::Optional, Ok(None)) => return Ok(Arc::new(Caller::anonymous())),
        (Audience::Optional | Audience::Caller | Audience::SignedIn | Audience::Operator, sent) => sent,
    };
    let token = sent.map_err(|refused| refusal(app, policy, path, refused))?;
    let (resource, now) = (resource_at(auth, policy.resource(path)), Timestamp::now());
    if token.is_some_and(|token| auth.is_new(token, now)) {
        app.token_rate.count(client, Instant::now()).map_err(|seconds| {
            let message = "too many unknown tokens from this address; try again later";
            policy.protocol.refusal(ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds))
        })?;
    }
    let admitted = auth.admit_from(Some(client.network()), token, &resource, now).await;
    admitted.map_err(|refused| refusal(app, policy, path, refused))
}

/// The refusal, if the route is not for this caller.
pub(crate) fn denial(app: &App, policy: Policy, path: &str, caller: &Caller) -> Option<Response> {
    match policy.audience {
        Audience::SignedIn if caller.is_anonymous() => {
            Some(refusal(app, policy, path, AdmissionError::NoToken))
        }
        Audience::Operator if !app.has_public_health() && caller.tier() < Tier::Operator => {
            let message = "requires an API key of tier operator, or the listener at server.operator_listen";
            Some(policy.protocol.refusal(ApiError::new(ErrorCode::Forbidden, message)))
        }
        Audience::Public
        | Audience::Optional
        | Audience::Caller
        | Audience::SignedIn
        | Audience::Operator => None,
    }
}

fn refusal(app: &App, policy: Policy, path: &str, refused: AdmissionError) -> Response {
    let (code, oauth_error) = match refused {
        AdmissionError::NoToken => (ErrorCode::Unauthorized, None),
        AdmissionError::BadToken => (ErrorCode::Unauthorized, Some("invalid_token")),
        AdmissionError::Unavailable => (ErrorCode::Unavailable, None),
    };
    let mut error = ApiError::new(code, refused.to_string());
    if code == ErrorCode::Unavailable {
        error = error.retry_after(5);
    }
    let mut response = policy.protocol.refusal(error);
    if code == ErrorCode::Unauthorized {
        // The scopes that the request needs are not known yet; without `scope`, clients request `scopes_supported`.
        challenge(app, response.headers_mut(), policy.resource(path), oauth_error, &BTreeSet::new());
    }
    response
}

/// Adds the challenge to the response of a call that the gate refused, so that the client can request the missing scopes.
/// The resource is the path of the MCP endpoint.
pub(crate) fn challenge_denied(
    app: &App,
    response: &mut Response,
    resource: &str,
    caller: &Caller,
    denied: &Denied,
) {
    // A new grant replaces the old one, so the challenge also names the scopes that the client has already.
    let least = MCP_READ;
    let scopes = denied.needed.iter().chain(caller.scopes()).chain([&least]).collect();
    let (status, error) = match caller.subject() {
        None => (StatusCode::UNAUTHORIZED, None),
        Some(_) => (StatusCode::FORBIDDEN, Some("insufficient_scope")),
    };
    *response.status_mut() = status;
    challenge(app, response.headers_mut(), resource, error, &scopes);
}

/// The URL of a resource, by its path.
pub(super) fn resource_at(auth: &Auth, resource: &str) -> String {
    format!("{}{resource}", auth.issuer())
}

/// The bearer token of a request; only the `Authorization` header counts.
pub(super) fn token(headers: &HeaderMap) -> Result<Option<&str>, AdmissionError> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    match (sent.next(), sent.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let text = value.to_str().map_err(|_| AdmissionError::BadToken)?;
            let (scheme, token) = text.split_once(' ').ok_or(AdmissionError::BadToken)?;
            if scheme.eq_ignore_ascii_case("bearer") {
                Ok(Some(token.trim()))
            } else {
                Err(AdmissionError::BadToken)
            }
        }
        (Some(_), Some(_)) => Err(AdmissionError::BadToken),
    }
}

fn challenge(
    app: &App,
    headers: &mut HeaderMap,
    resource: &str,
    error: Option<&str>,
    scopes: &BTreeSet<&Scope>,
) {
    let mut parts: Vec<String> = error.map(|error| format!("error=\"{error}\"")).into_iter().collect();
    if let Some(auth) = app.auth.as_ref().filter(|_| app.has_sign_in()) {
        parts.push(format!("resource_metadata=\"{}{PROTECTED_RESOURCE_PATH}{resource}\"", auth.issuer()));
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
