//! Sign-In with Ethereum: nonce, message, and signature verification.

use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use http::HeaderMap;
use jiff::Timestamp;
use lyceum_auth::{Auth, Signature};
use lyceum_model::ErrorCode;
use lyceum_tools::{FieldFault, read_object};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    super::{ApiError, body::read_body_of},
    answer::{held, sign_in_fault, unkept},
    auth,
};
use crate::app::App;

/// Maximum body size: it carries the sealed authorization request, and signatures of contract wallets are long.
pub(super) const MAX_BODY_BYTES: usize = 96 * 1024;

/// The account that signs in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NonceRequest {
    state_id: String,
    address: String,
    chain_id: u64,
}

#[derive(Serialize)]
struct Nonce {
    nonce: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedIn {
    redirect_to: String,
}

/// `GET /siwe/nonce`: a nonce.
pub(super) async fn nonce(State(app): State<App>) -> Result<Response, ApiError> {
    let nonce = new_nonce(auth(&app)?)?;
    Ok(unkept(Json(Nonce { nonce, message: None }).into_response()))
}

/// `POST /siwe/nonce`: a nonce and the message to sign.
pub(super) async fn message(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let who: NonceRequest = read(&app, &headers, body).await?;
    let nonce = new_nonce(auth)?;
    let account = (who.address.as_str(), who.chain_id);
    let message = auth.message(&who.state_id, held(auth, &headers), account, &nonce, Timestamp::now());
    let message = message.map_err(|fault| sign_in_fault(&fault))?.to_string();
    Ok(unkept(Json(Nonce { nonce, message: Some(message) }).into_response()))
}

/// `POST /siwe/verify`: verifies the signed message and returns the redirect.
pub(super) async fn verify(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let auth = auth(&app)?;
    let sent: Signature = read(&app, &headers, body).await?;
    let verified = auth.verify(&sent, held(auth, &headers), Timestamp::now()).await;
    let redirect_to = verified.map_err(|fault| sign_in_fault(&fault))?;
    Ok(unkept(Json(SignedIn { redirect_to }).into_response()))
}

fn new_nonce(auth: &Auth) -> Result<String, ApiError> {
    let failed = |_| ApiError::new(ErrorCode::InternalError, "the system gives no random bytes");
    auth.nonce(Timestamp::now()).map_err(failed)
}

async fn read<T: DeserializeOwned>(app: &App, headers: &HeaderMap, body: Body) -> Result<T, ApiError> {
    let bytes = read_body_of(headers, body, MAX_BODY_BYTES, app.config.limits.read).await?;
    read_object(&bytes).map_err(|FieldFault { field, message }| match field.as_str() {
        "" => ApiError::new(ErrorCode::ValidationError, format!("the body: {message}")),
        field => ApiError::invalid(field, message),
    })
}
