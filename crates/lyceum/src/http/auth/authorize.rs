//! `/authorize`: shows the authorization request to the user, who allows or denies it.

use axum::{
    Extension,
    body::Body,
    extract::{RawQuery, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::Timestamp;
use lyceum_auth::{
    Auth, SignInFault, Visitor,
    oauth::{Fault, OauthError, Params, request::AuthorizationError},
};

use super::{
    super::{ApiError, ClientAddr, body::read_body_of},
    answer::{cookie, held, sign_in_fault, unkept},
    auth, page,
};
use crate::app::App;

/// Maximum size of the form, which carries the sealed authorization request.
pub(super) const MAX_FORM_BYTES: usize = 64 * 1024;

/// `GET /authorize`: shows the authorization request. It never grants anything.
pub(super) async fn show_sign_in(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Extension(client): Extension<ClientAddr>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let params = match Params::parse(query.as_deref().unwrap_or_default()) {
        Ok(params) => params,
        Err(error) => return Ok(error_page(auth, &Fault::InvalidRequest.because(error.to_string()))),
    };
    let visitor = Visitor { browser: held(auth, &headers), address: Some(client.network()) };
    let started = auth.start_authorization(&params, visitor, Timestamp::now()).await;
    let is_vouched = params.get("client_id").is_some_and(|client| auth.vouches_for(client));
    Ok(match started {
        Ok(started_sign_in) => {
            let mut response = page::sign_in(&app, auth, &started_sign_in, "", StatusCode::OK);
            if let Ok(cookie) = HeaderValue::try_from(cookie(auth, &started_sign_in.browser)) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(AuthorizationError::Shown(error)) => error_page(auth, &error),
        Err(AuthorizationError::Sent(sent)) if is_vouched || sent.is_local() => {
            to(auth, StatusCode::FOUND, &sent.address(auth.issuer()))
        }
        // Anyone can register any redirect URI, so errors are not redirected there without a click (open redirect, RFC 9700).
        Err(AuthorizationError::Sent(sent)) => {
            let way_back = (sent.address(auth.issuer()), sent.shown_host());
            page::fault_with_way_back(auth, &sent.error.error_description, &way_back)
        }
    })
}

/// `POST /authorize`: the user denies, or signs in with an API key.
pub(super) async fn decide(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let bytes = read_body_of(&headers, body, MAX_FORM_BYTES, app.config.limits.read).await?;
    let params =
        std::str::from_utf8(&bytes).ok().and_then(|text| Params::parse(text).ok()).unwrap_or_default();
    let (state, browser, now) =
        (params.get("stateId").unwrap_or_default(), held(auth, &headers), Timestamp::now());
    let decided = match params.get("do") {
        Some("github") => auth.to_github(state, browser, now).await,
        Some("key") => {
            auth.sign_in_with_key(state, browser, params.get("key").unwrap_or_default(), now).await
        }
        // Any other value counts as denied.
        _ => auth.deny(state, browser, now).await,
    };
    Ok(match decided {
        Ok(address) => to(auth, StatusCode::SEE_OTHER, &address),
        Err(SignInFault::NotSigned) => again(&app, auth, state, browser, now),
        Err(fault) => {
            let error = sign_in_fault(&fault);
            page::fault(auth, &error.message, error.status())
        }
    })
}

/// `GET /github/callback`: the redirect from GitHub.
pub(super) async fn from_github(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let params = Params::parse(query.as_deref().unwrap_or_default()).unwrap_or_default();
    let (id, code) = (params.get("state").unwrap_or_default(), params.get("code"));
    Ok(match auth.from_github(id, code, held(auth, &headers), Timestamp::now()).await {
        Ok(address) => to(auth, StatusCode::FOUND, &address),
        Err(fault) => {
            let error = sign_in_fault(&fault);
            page::fault(auth, &error.message, error.status())
        }
    })
}

/// Shows the page again after an invalid API key.
fn again(app: &App, auth: &Auth, state: &str, browser: Option<&str>, now: Timestamp) -> Response {
    match auth.resume(state, browser, now) {
        Ok(started_sign_in) => page::sign_in(
            app,
            auth,
            &started_sign_in,
            "Invalid API key. Check it for typos, or ask the operator for a new one.",
            StatusCode::UNAUTHORIZED,
        ),
        Err(lost) => page::fault(auth, &lost.to_string(), StatusCode::BAD_REQUEST),
    }
}

fn error_page(auth: &Auth, error: &OauthError) -> Response {
    let status = match error.error {
        Fault::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Fault::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    page::fault(auth, &error.error_description, status)
}

/// Redirects the browser.
fn to(auth: &Auth, status: StatusCode, address: &str) -> Response {
    let Ok(location) = HeaderValue::try_from(address) else {
        return page::fault(auth, "the way back can't be written", StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut response = status.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    page::guarded(unkept(response), None, "")
}
