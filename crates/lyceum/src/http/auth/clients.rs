//! Client endpoints: `/token`, `/revoke`, `/register`.

use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use lyceum_auth::{
    Credentials,
    oauth::{Fault, OauthError, Params, client::ClientMetadata},
};
use serde::{Deserialize, Serialize};

use super::{
    super::{ApiError, body::read_body_of},
    answer::{refused, unkept},
    auth,
};
use crate::app::App;

/// Maximum size of a form or a registration.
pub(super) const MAX_BODY_BYTES: usize = 64 * 1024;

/// The token response.
#[derive(Serialize)]
struct Tokens<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    refresh_token: &'a str,
    scope: String,
}

/// `POST /token`
pub(super) async fn token(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let issued = match form(&app, &headers, body).await {
        Ok(params) => auth.exchange(&params, credentials(&headers), Timestamp::now()).await,
        Err(error) => Err(error),
    };
    Ok(match issued {
        Err(error) => refused(&error),
        Ok(issued) => unkept(
            Json(Tokens {
                access_token: issued.access.reveal(),
                token_type: "Bearer",
                expires_in: issued.expires_in,
                refresh_token: issued.refresh.reveal(),
                scope: issued.scopes.to_string(),
            })
            .into_response(),
        ),
    })
}

/// `POST /revoke`
pub(super) async fn revoke(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let revoked = match form(&app, &headers, body).await {
        Ok(params) => auth.revoke(&params, credentials(&headers), Timestamp::now()).await,
        Err(error) => Err(error),
    };
    Ok(match revoked {
        Err(error) => refused(&error),
        Ok(()) => unkept(StatusCode::OK.into_response()),
    })
}

/// `POST /register`
pub(super) async fn register(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let bytes = read_body_of(&headers, body, MAX_BODY_BYTES, app.config.limits.read).await;
    let metadata =
        bytes.map_err(|error| Fault::InvalidClientMetadata.because(error.message)).and_then(|bytes| {
            // Parsed as an object first: a derived deserializer would also accept an array of the values.
            let metadata = serde_json::from_slice::<serde_json::Map<_, _>>(&bytes);
            let metadata = metadata
                .and_then(|metadata| ClientMetadata::deserialize(serde_json::Value::Object(metadata)));
            metadata.map_err(|_| Fault::InvalidClientMetadata.because("the body is not the JSON of RFC 7591"))
        });
    Ok(match metadata.and_then(|metadata| auth.register(&metadata, Timestamp::now())) {
        Err(error) => refused(&error),
        Ok(registered) => unkept((StatusCode::CREATED, Json(registered)).into_response()),
    })
}

/// Parses a form; any other content type is an error.
async fn form(app: &App, headers: &HeaderMap, body: Body) -> Result<Params, OauthError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(Fault::InvalidRequest.because("send a form: application/x-www-form-urlencoded"));
    }
    let bytes = read_body_of(headers, body, MAX_BODY_BYTES, app.config.limits.read).await;
    let bytes = bytes.map_err(|error| Fault::InvalidRequest.because(error.message))?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| Fault::InvalidRequest.because("the form is not UTF-8"))?;
    Params::parse(text).map_err(|error| Fault::InvalidRequest.because(error.to_string()))
}

/// Client credentials from the `Authorization` header.
fn credentials(headers: &HeaderMap) -> Credentials<'_> {
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let basic =
        sent.and_then(|sent| sent.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    Credentials { basic: basic.map(|(_, basic)| basic) }
}
