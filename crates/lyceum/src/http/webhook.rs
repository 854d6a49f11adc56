//! `POST /webhooks/github`: news of a push. It is acknowledged once it is on disk, and not before.
//!
//! Nobody knows who sends a body before its last byte, so that none of it is kept: signatures are checked while it arrives,
//! and a slow sender costs no more than its connection.

use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};
use lyceum_knowledge::Delivery;
use lyceum_model::ErrorCode;
use lyceum_source::{Excerpt, SignatureCheck};
use serde_json::json;

use super::{ApiError, body::read_parts};
use crate::{
    app::App,
    config::{Location, Repository},
};

/// The largest body that the server of a repository sends.
pub(super) const LARGEST: usize = 25 * 1024 * 1024;

/// The longest delivery id that is taken.
const LONGEST_ID: usize = 128;

pub(super) async fn github(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let signature = header("x-hub-signature-256").unwrap_or_default();
    let check = |one: &Repository| SignatureCheck::new(one.webhook_secret.as_ref()?, signature);
    let mut checks: Vec<_> = repositories(&app).filter_map(|one| Some((one, check(one)?))).collect();
    // Whoever can't have signed it need not send it.
    if checks.is_empty() {
        return Err(ApiError::new(ErrorCode::Forbidden, "Invalid signature"));
    }
    let mut excerpt = Excerpt::default();
    read_parts(&headers, body, LARGEST, app.config.limits.read, |part| {
        checks.iter_mut().for_each(|(_, check)| check.update(part));
        excerpt.update(part);
    })
    .await?;
    // Nothing is understood of the body before it is known who sent it.
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
    let id = header("x-github-delivery").filter(|id| id.len() <= LONGEST_ID);
    let about: Vec<&Repository> = signed.into_iter().filter(|one| push.is_about(&one.url)).collect();
    let moved: Vec<&Repository> =
        about.iter().copied().filter(|one| push.branch() == Some(one.branch.as_str())).collect();
    match (about.first(), moved.is_empty()) {
        (None, _) => {
            tracing::warn!(
                repository = push.repository.full_name,
                "a signed push is about no source here; was the repository renamed?"
            );
            Ok(ignored("no source here is this repository"))
        }
        (Some(one), true) => Ok(ignored(&format!("not {} branch", one.branch))),
        (Some(_), false) => accept(&app, &moved, id).await,
    }
}

async fn accept(app: &App, moved: &[&Repository], id: Option<&str>) -> Result<Response, ApiError> {
    let is_it = |location: &Location| matches!(location, Location::Repository(one) if moved.contains(&one));
    let skills = app.config.skills.as_ref().zip(app.skills.as_ref());
    let skills = skills.filter(|(declared, _)| is_it(&declared.source.location)).map(|(_, skills)| skills);
    if let Some(skills) = skills.cloned() {
        // Nothing needs to be written down: a start looks for news anyway.
        app.tasks.spawn(async move { drop(skills.refresh_in_turn().await) });
    }
    let knowledge = app.config.knowledge.as_ref().zip(app.knowledge.as_ref());
    let Some((_, knowledge)) = knowledge.filter(|(declared, _)| is_it(&declared.source.location)) else {
        let told = skills.map(|_| Json(json!({ "status": "ok" })).into_response());
        return Ok(told.unwrap_or_else(|| ignored("no service reads this source")));
    };
    match knowledge.accept(id).await {
        Ok(Delivery::Accepted) => Ok(Json(json!({ "status": "ok" })).into_response()),
        Ok(Delivery::Known) => Ok(Json(json!({ "status": "ok", "duplicate": true })).into_response()),
        Err(error) => {
            tracing::error!(error.cause = %error, "news of a push could not be written down");
            let refused =
                ApiError::new(ErrorCode::Unavailable, "it could not be written down; deliver it again");
            Err(refused.retry_after(30).with_status(StatusCode::SERVICE_UNAVAILABLE))
        }
    }
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
