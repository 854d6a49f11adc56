//! How the server is: `/livez` (the process), `/readyz` (send requests here?), `/health` (what works), `/metrics`.

mod knowledge;
mod numbers;

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use jiff::Timestamp;
use lyceum_content::{SourceState, SourceStatus};
use lyceum_model::{Caller, ErrorCode, Tier};
use lyceum_search::Status;
use lyceum_skills::Skills;
use serde::Serialize;

use super::ApiError;
use crate::app::App;
use knowledge::KnowledgeHealth;

pub(crate) use numbers::HealthNumbers;

#[derive(Serialize)]
struct Health {
    status: &'static str,
    services: BTreeMap<String, &'static str>,
    sources: Vec<SourceStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knowledge: Option<KnowledgeHealth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Status>,
    timestamp: Timestamp,
}

/// All that a stranger is told of a server that asks everyone to sign in.
#[derive(Serialize)]
struct Bare {
    status: &'static str,
}

/// `GET /health`
pub(super) async fn health(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    let health = look(&app).await;
    if sees_details(&app, &caller) {
        Json(health).into_response()
    } else {
        Json(Bare { status: health.status }).into_response()
    }
}

/// Whether a caller sees more than a bare status: where strangers are let in everyone does, else operators.
fn sees_details(app: &App, caller: &Caller) -> bool {
    !app.config.is_closed() || caller.tier() >= Tier::Operator
}

async fn look(app: &App) -> Health {
    // What is shown is looked at first: when the index is said to be ready, all of that can be found.
    let sources = app.catalog.get().sources.clone();
    let failed = sources.iter().any(|source| source.state == SourceState::Failed);
    let state = app.knowledge.as_ref().map(|knowledge| knowledge.state().borrow().clone());
    let is_searched = app.knowledge.as_ref().is_none_or(|knowledge| knowledge.is_searched());
    let numbers = app.health_numbers.of(app, state.as_ref().map(|state| &state.shown)).await;
    let registry = app.mcp.hub().registry();
    let mut services: BTreeMap<String, &'static str> =
        registry.services().map(|service| (service.to_string(), "ok")).collect();
    let knowledge = state.map(|state| knowledge::look(&state, numbers.unshelved));
    if let Some(health) = &knowledge {
        services.insert("knowledge".to_owned(), if health.is_well { "ok" } else { "degraded" });
    }
    let search = numbers.search.map(|mut status| {
        if status.state == lyceum_search::State::Ready && !is_searched {
            status.state = lyceum_search::State::Indexing;
        }
        status
    });
    if app.search.is_some() {
        let is_well = search.as_ref().is_some_and(|status| status.state != lyceum_search::State::Degraded);
        services.insert("search".to_owned(), if is_well { "ok" } else { "degraded" });
    }
    let all_well = services.values().all(|service| *service == "ok");
    let status = if failed || !all_well || app.drain.is_draining() { "degraded" } else { "ok" };
    Health { status, services, sources, knowledge, search, timestamp: Timestamp::now() }
}

/// `GET /livez`
pub(super) async fn live() -> &'static str {
    "ok\n"
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    reasons: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scripts: Option<Scripts>,
}

/// Whether scripts of skills are run here, and what they are kept in.
#[derive(Serialize)]
struct Scripts {
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// `GET /readyz`
pub(super) async fn ready(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    let full = readiness(&app).await;
    if sees_details(&app, &caller) {
        return full;
    }
    let status = if full.status().is_success() { "ok" } else { "unavailable" };
    (full.status(), Json(Bare { status })).into_response()
}

/// Readiness in full.
async fn readiness(app: &App) -> Response {
    let mut reasons = Vec::new();
    if app.drain.is_draining() {
        reasons.push("the server is about to stop".to_owned());
    }
    let mut scripts = None;
    if let Some(skills) = &app.skills {
        let state = skills.state().borrow().clone();
        match (&state.library, &state.error) {
            (Some(library), _) => scripts = Some(scripts_of(skills, library.settings.scripts.enabled).await),
            (None, Some(error)) => reasons.push(format!("the skills can't be read: {error}")),
            (None, None) => reasons.push("the skills are being fetched".to_owned()),
        }
    }
    reasons.extend(app.knowledge.as_ref().and_then(|knowledge| knowledge::reason_to_wait(knowledge)));
    let ready = reasons.is_empty();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Readiness { ready, reasons, scripts })).into_response()
}

async fn scripts_of(skills: &Skills, enabled: bool) -> Scripts {
    if !enabled {
        return Scripts { enabled, sandbox: None, error: None };
    }
    match skills.scripts().level().await {
        Ok(level) => Scripts { enabled, sandbox: Some(level.as_str()), error: None },
        Err(error) => Scripts { enabled, sandbox: None, error: Some(error) },
    }
}

/// `GET /metrics`
pub(super) async fn metrics(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    if !sees_details(&app, &caller) {
        let message = "metrics are for keys of the tier operator, and at server.operator_listen";
        return ApiError::new(ErrorCode::Forbidden, message).into_response();
    }
    all_metrics(&app)
}

/// All metrics.
fn all_metrics(app: &App) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.encode()).into_response()
}
