//! How the server is: `/livez` (the process), `/readyz` (send requests here?), `/health` (what works), `/metrics`.

mod knowledge;

use std::{collections::BTreeMap, time::Duration};

use axum::{Json, extract::State, response::IntoResponse, response::Response};
use http::{StatusCode, header};
use jiff::Timestamp;
use lyceum_content::{SourceState, SourceStatus};
use lyceum_search::Status;
use lyceum_skills::Skills;
use serde::Serialize;

use crate::app::App;
use knowledge::KnowledgeHealth;

/// How long search may take to tell how far it is.
const SEARCH_TELLS_WITHIN: Duration = Duration::from_secs(2);

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

pub(super) async fn health(State(app): State<App>) -> Response {
    let sources = app.catalog.get().sources.clone();
    let failed = sources.iter().any(|source| source.state == SourceState::Failed);
    let registry = app.mcp.hub().registry();
    let mut services: BTreeMap<String, &'static str> =
        registry.services().map(|service| (service.to_string(), "ok")).collect();
    let mut knowledge = None;
    if let Some(service) = &app.knowledge {
        let health = knowledge::look(service).await;
        services.insert("knowledge".to_owned(), if health.is_well { "ok" } else { "degraded" });
        knowledge = Some(health);
    }
    let mut search = None;
    if let Some(service) = &app.search {
        let status = tokio::time::timeout(SEARCH_TELLS_WITHIN, service.status()).await;
        let status = status.ok().and_then(Result::ok);
        let is_well = status.as_ref().is_some_and(|status| status.state != lyceum_search::State::Degraded);
        services.insert("search".to_owned(), if is_well { "ok" } else { "degraded" });
        search = status;
    }
    let all_well = services.values().all(|service| *service == "ok");
    let status = if failed || !all_well || app.drain.is_draining() { "degraded" } else { "ok" };
    Json(Health { status, services, sources, knowledge, search, timestamp: Timestamp::now() }).into_response()
}

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

pub(super) async fn ready(State(app): State<App>) -> Response {
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

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.encode()).into_response()
}
