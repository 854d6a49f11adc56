//! Session ownership: a session belongs to the caller who opened it; an anonymous one to the first subject that uses
//! it. Binds the `Mcp-Session-Id` of requests and responses to the caller.

use axum::{body::Body, response::Response};
use http::{HeaderMap, HeaderValue, Request};
use lyceum_auth::Auth;
use lyceum_model::{Caller, ErrorCode};

use super::{
    super::{SESSION_ID, refusal},
    SessionNotFound,
};
use crate::{app::App, http::ApiError};

/// Replaces `Mcp-Session-Id` by the bare id; the session of another caller is not found.
pub(in crate::mcp) fn unbind_request(
    auth: &Auth,
    caller: &Caller,
    request: &mut Request<Body>,
) -> Result<(), Box<Response>> {
    let Some(sent) = request.headers().get(SESSION_ID) else { return Ok(()) };
    let id = sent.to_str().ok().and_then(|sent| auth.session_of(sent, caller.subject()));
    match id.and_then(|id| HeaderValue::from_str(id).ok()) {
        Some(id) => {
            request.headers_mut().insert(SESSION_ID, id);
            Ok(())
        }
        None => Err(no_session()),
    }
}

/// Checks that the caller may use the session with the bare id in the headers.
pub(in crate::mcp) async fn enter(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
) -> Result<(), Box<Response>> {
    let id = headers.get(SESSION_ID).and_then(|id| id.to_str().ok()).ok_or_else(no_session)?;
    app.legacy.visit(id, caller.subject()).await.map_err(|SessionNotFound| no_session())
}

fn no_session() -> Box<Response> {
    let message = "unknown session; send initialize to open one";
    Box::new(refusal(&ApiError::new(ErrorCode::NotFound, message)))
}

/// Binds the `Mcp-Session-Id` of a response to the caller.
pub(in crate::mcp) fn bind_response(auth: &Auth, caller: &Caller, response: &mut Response) {
    let id = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
    let owned = id.and_then(|id| HeaderValue::try_from(auth.own_session(id, caller.subject())).ok());
    if let Some(owned) = owned {
        response.headers_mut().insert(SESSION_ID, owned);
    }
}
