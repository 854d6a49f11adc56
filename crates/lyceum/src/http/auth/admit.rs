//! Who sends a request, and how a client is told what is missing.

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

/// The caller of a request, or the answer to one that is not let in.
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
            let message = "too many tokens that are not known come from this address; try again later";
            policy.protocol.refusal(ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds))
        })?;
    }
    let admitted = auth.admit_from(Some(client.network()), token, &resource, now).await;
    admitted.map_err(|refused| refusal(app, policy, path, refused))
}

/// The answer to a caller whom the route is not for, if it is for some callers only.
pub(crate) fn denial(app: &App, policy: Policy, path: &str, caller: &Caller) -> Option<Response> {
    match policy.audience {
        Audience::SignedIn if caller.is_anonymous() => {
            Some(refusal(app, policy, path, AdmissionError::NoToken))
        }
        Audience::Operator if app.config.is_closed() && caller.tier() < Tier::Operator => {
            let message = "this is for keys of the tier operator, and at server.operator_listen";
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
        // What the request needs is not known here; a client then asks for what the metadata of the resource lists.
        challenge(app, response.headers_mut(), policy.resource(path), oauth_error, &BTreeSet::new());
    }
    response
}

/// Turns the answer to a call that the gate refused into one that tells a client what to ask the person for. The resource is
/// the path that MCP is spoken at.
pub(crate) fn challenge_denied(
    app: &App,
    response: &mut Response,
    resource: &str,
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
    challenge(app, response.headers_mut(), resource, error, &scopes);
}

/// The address of a resource, by its path.
pub(super) fn resource_at(auth: &Auth, resource: &str) -> String {
    format!("{}{resource}", auth.issuer())
}

/// The token of a request. It is sent in one header, and nowhere else.
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
