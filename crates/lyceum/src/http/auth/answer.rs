//! Common parts of sign-in responses.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use lyceum_auth::{
    Auth, ResumeError, SignInFault,
    oauth::{Fault, OauthError},
};
use lyceum_model::ErrorCode;

use super::super::ApiError;

/// Forbids caches to store a sign-in response.
pub(super) fn unkept(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// An OAuth error response.
pub(super) fn refused(error: &OauthError) -> Response {
    let status = match error.error {
        Fault::InvalidClient => StatusCode::UNAUTHORIZED,
        Fault::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Fault::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    let mut response = (status, Json(error)).into_response();
    match error.error {
        Fault::InvalidClient => {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"lyceum\""));
        }
        Fault::TemporarilyUnavailable => {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        _ => {}
    }
    unkept(response)
}

/// The error of a failed sign-in, for the page and for clients.
pub(super) fn sign_in_fault(fault: &SignInFault) -> ApiError {
    let (code, status) = match fault {
        SignInFault::Lost(ResumeError::OtherBrowser) => (ErrorCode::Forbidden, None),
        SignInFault::Lost(_) | SignInFault::Unfit(_) | SignInFault::Account(_) | SignInFault::Used => {
            (ErrorCode::ValidationError, None)
        }
        SignInFault::NotSigned => (ErrorCode::Unauthorized, None),
        SignInFault::Unavailable(cause) => {
            tracing::warn!(error.cause = %cause, "cannot verify a sign-in");
            (ErrorCode::Unavailable, None)
        }
        SignInFault::Unkept(cause) => {
            tracing::error!(error.cause = %cause, "cannot store a sign-in");
            (cause.code(), Some(StatusCode::SERVICE_UNAVAILABLE))
        }
    };
    let error = ApiError::new(code, fault.to_string());
    let error = if code == ErrorCode::Unavailable { error.retry_after(5) } else { error };
    match status {
        Some(status) => error.with_status(status),
        None => error,
    }
}

/// The sign-in cookie of the browser, if it sent one.
pub(super) fn held<'h>(auth: &Auth, headers: &'h HeaderMap) -> Option<&'h str> {
    let name = cookie_name(auth);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The cookie that binds a sign-in to its browser. Browsers accept the prefix `__Host-` only over TLS.
pub(super) fn cookie(auth: &Auth, value: &str) -> String {
    let secure = if is_secure(auth) { "; Secure" } else { "" };
    format!("{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=600{secure}", cookie_name(auth))
}

fn cookie_name(auth: &Auth) -> &'static str {
    if is_secure(auth) { "__Host-lyceum-sign-in" } else { "lyceum-sign-in" }
}

fn is_secure(auth: &Auth) -> bool {
    auth.issuer().starts_with("https://")
}
