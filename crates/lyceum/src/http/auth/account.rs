//! `/account`: the caller's identity and grants. A client sees and revokes only its own grants.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use lyceum_auth::{Account, Auth};
use lyceum_model::{Caller, ErrorCode, Tier};
use lyceum_store::DbError;
use serde::Serialize;

use super::{super::ApiError, admit::token, answer::unkept, auth};
use crate::app::App;

#[derive(Serialize)]
struct AccountResponse {
    #[serde(flatten)]
    account: Account,
    tier: Tier,
}

/// `GET /account`
pub(super) async fn show(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let subject = caller.subject().ok_or_else(nobody)?;
    let (auth, now) = (auth(&app)?, Timestamp::now());
    let client = client(auth, &headers, now).await;
    let account = auth.account(subject, client.as_deref(), now).await.map_err(|error| unread(&error))?;
    Ok(unkept(Json(AccountResponse { account, tier: caller.tier() }).into_response()))
}

/// `DELETE /account/grants/{id}`
pub(super) async fn end_grant(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let subject = caller.subject().ok_or_else(nobody)?;
    let (auth, now) = (auth(&app)?, Timestamp::now());
    let client = client(auth, &headers, now).await;
    let ended = auth.end_grant(subject, client.as_deref(), &id, now).await;
    if ended.map_err(|error| unread(&error))? {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let message = "no active grant has this id; GET /account lists your grants";
    Err(ApiError::new(ErrorCode::NotFound, message))
}

/// The error for a caller without an account; the route requires sign-in first.
fn nobody() -> ApiError {
    ApiError::new(ErrorCode::Unauthorized, "sign in to have an account")
}

/// The client that acts for the user, if there is one.
async fn client(auth: &Auth, headers: &HeaderMap, now: Timestamp) -> Option<String> {
    auth.client_of(token(headers).ok().flatten()?, now).await
}

fn unread(error: &DbError) -> ApiError {
    tracing::error!(error.cause = %error, "cannot read or change an account");
    ApiError::new(ErrorCode::Unavailable, "accounts can't be read now; try again in a moment").retry_after(5)
}
