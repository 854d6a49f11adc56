//! `POST /webhooks/github`: push webhooks. A delivery is acknowledged once it is on disk.
//!
//! The sender is unknown until the last byte, so the body is not buffered: signatures are checked while it arrives,
//! and a slow sender costs no more than its connection.

use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};
use lyceum_model::ErrorCode;
use lyceum_source::{Excerpt, SignatureCheck};
use serde_json::json;

use super::{ApiError, body::read_parts};
use crate::{
    app::App,
    config::{Location, Repository},
    service::Delivery,
};

/// Maximum size of a webhook body.
pub(super) const MAX_BODY_BYTES: usize = 25 * 1024 * 1024;

/// Maximum length of a delivery id.
const MAX_DELIVERY_ID_BYTES: usize = 128;

pub(super) async fn github(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let signature = header("x-hub-signature-256").unwrap_or_default();
    let check = |one: &Repository| SignatureCheck::new(one.webhook_secret.as_ref()?, signature);
    let mut checks: Vec<_> = repositories(&app).filter_map(|one| Some((one, check(one)?))).collect();
    // If no signature can match, the body need not be read.
    if checks.is_empty() {
        return Err(ApiError::new(ErrorCode::Forbidden, "Invalid signature"));
    }
    let mut excerpt = Excerpt::default();
    read_parts(&headers, body, MAX_BODY_BYTES, app.config.limits.read, |part| {
        checks.iter_mut().for_each(|(_, check)| check.update(part));
        excerpt.update(part);
    })
    .await?;
    // The body is not parsed until its signature is verified.
    let signed = checks.into_iter().filter_map(|(one, check)| check.is_signed().then_some(one));
    let signed: Vec<&Repository> = signed.collect();
    if signed.is_empty() {
        return Err(ApiError::new(ErrorCode::Forbidden, "Invalid signature"));
    }
    match header("x-github-event") {
        Some("push") | None => {}
        Some("ping") => return Ok(Json(json!({ "status": "ok", "message": "pong" })).into_response()),
        Some(_) => return Ok(ignored("not a push")),
    }
    let push = excerpt.finish().map_err(|error| {
        let message = format!("the body is not a push: {error}; choose application/json as content type");
        ApiError::new(ErrorCode::ValidationError, message)
    })?;
    let id = header("x-github-delivery").filter(|id| id.len() <= MAX_DELIVERY_ID_BYTES);
    let about: Vec<&Repository> = signed.into_iter().filter(|one| push.is_about(&one.url)).collect();
    let moved: Vec<&Repository> =
        about.iter().copied().filter(|one| push.branch() == Some(one.branch.as_str())).collect();
    match (about.first(), moved.is_empty()) {
        (None, _) => {
            tracing::warn!(
                repository = push.repository.full_name,
                "signed push for an unknown repository; was it renamed?"
            );
            Ok(ignored("no configured source is this repository"))
        }
        (Some(one), true) => Ok(ignored(&format!("not {} branch", one.branch))),
        (Some(_), false) => accept(&app, &moved, id).await,
    }
}

/// Notifies every service. Acknowledged once each service that uses the repository has stored the delivery.
async fn accept(app: &App, moved: &[&Repository], id: Option<&str>) -> Result<Response, ApiError> {
    let mut deliveries = Vec::new();
    for service in app.services.iter() {
        deliveries.push(service.pushed(moved, id).await.map_err(|error| {
            tracing::error!(service = %service.name(), error.cause = %error, "could not store the webhook delivery");
            let refused =
                ApiError::new(ErrorCode::Unavailable, "could not store the delivery; redeliver it");
            refused.retry_after(30).with_status(StatusCode::SERVICE_UNAVAILABLE)
        })?);
    }
    let message = if deliveries.contains(&Delivery::Known) {
        json!({ "status": "ok", "duplicate": true })
    } else if deliveries.contains(&Delivery::Accepted) {
        json!({ "status": "ok" })
    } else {
        return Ok(ignored("no service reads this source"));
    };
    Ok(Json(message).into_response())
}

fn repositories(app: &App) -> impl Iterator<Item = &Repository> {
    app.config.sources.iter().filter_map(|source| match &source.location {
        Location::Repository(repository) => Some(repository),
        Location::Folder(_) | Location::Example => None,
    })
}

fn ignored(reason: &str) -> Response {
    Json(json!({ "status": "ignored", "message": format!("Ignored: {reason}") })).into_response()
}
