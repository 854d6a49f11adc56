//! What answers of sign-in have in common.

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

/// Nothing of a sign-in is kept by anything on the way.
pub(super) fn unkept(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// A refusal in the words of OAuth.
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

/// A sign-in that can't go on, as the page and programs are told.
pub(super) fn sign_in_fault(fault: &SignInFault) -> ApiError {
    let (code, status) = match fault {
        SignInFault::Lost(ResumeError::OtherBrowser) => (ErrorCode::Forbidden, None),
        SignInFault::Lost(_) | SignInFault::Unfit(_) | SignInFault::Account(_) | SignInFault::Used => {
            (ErrorCode::ValidationError, None)
        }
        SignInFault::NotSigned => (ErrorCode::Unauthorized, None),
        SignInFault::Unavailable(cause) => {
            tracing::warn!(error.cause = %cause, "a sign-in could not be checked");
            (ErrorCode::Unavailable, None)
        }
        SignInFault::Unkept(cause) => {
            tracing::error!(error.cause = %cause, "a sign-in could not be kept");
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

/// What the browser holds from the page, if it does.
pub(super) fn held<'h>(auth: &Auth, headers: &'h HeaderMap) -> Option<&'h str> {
    let name = cookie_name(auth);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The cookie that binds a sign-in to its browser. A browser takes `__Host-` over TLS only.
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
