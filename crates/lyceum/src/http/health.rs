//! Health, readiness and metrics: `/livez` (the process), `/readyz` (ready for requests), `/health` (what works), `/metrics`.

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
use serde::Serialize;
use serde_json::{Map, Value};

use super::ApiError;
use crate::{app::App, service};

#[derive(Serialize)]
struct Health {
    status: &'static str,
    services: BTreeMap<String, &'static str>,
    sources: Vec<SourceStatus>,
    /// Details of each service, by name.
    #[serde(flatten)]
    details: BTreeMap<String, Value>,
    timestamp: Timestamp,
}

/// The response to callers who may not see details.
#[derive(Serialize)]
struct PublicHealth {
    status: &'static str,
}

/// `GET /health`
pub(super) async fn health(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    let health = collect_health(&app).await;
    if sees_details(&app, &caller) {
        Json(health).into_response()
    } else {
        Json(PublicHealth { status: health.status }).into_response()
    }
}

/// Whether a caller sees details.
fn sees_details(app: &App, caller: &Caller) -> bool {
    app.has_public_health() || caller.tier() >= Tier::Operator
}

async fn collect_health(app: &App) -> Health {
    let sources = app.sources();
    let failed = sources.iter().any(|source| source.state == SourceState::Failed);
    let registry = app.mcp.hub().registry();
    let mut services: BTreeMap<String, &'static str> =
        registry.services().map(|service| (service.to_string(), "ok")).collect();
    let mut details = BTreeMap::new();
    for (name, health) in service_health(app).await {
        services.insert(name.clone(), if health.is_well { "ok" } else { "degraded" });
        details.extend(health.detail.map(|detail| (name, detail)));
    }
    let all_well = services.values().all(|service| *service == "ok");
    let status = if failed || !all_well || app.drain.is_draining() { "degraded" } else { "ok" };
    Health { status, services, sources, details, timestamp: Timestamp::now() }
}

/// Health of each service, by name.
async fn service_health(app: &App) -> Vec<(String, service::Health)> {
    let looks = app.services.iter().map(async |one| (one.name().to_string(), one.health().await));
    futures::future::join_all(looks).await
}

/// `GET /livez`
pub(super) async fn live() -> &'static str {
    "ok\n"
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    reasons: Vec<String>,
    /// Details of services, such as `scripts`.
    #[serde(flatten)]
    details: Map<String, Value>,
}

/// `GET /readyz`
pub(super) async fn ready(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    let full = readiness(&app).await;
    if sees_details(&app, &caller) {
        return full;
    }
    let status = if full.status().is_success() { "ok" } else { "unavailable" };
    (full.status(), Json(PublicHealth { status })).into_response()
}

/// The readiness response with details.
async fn readiness(app: &App) -> Response {
    let mut reasons = Vec::new();
    if app.drain.is_draining() {
        reasons.push("the server is about to stop".to_owned());
    }
    let mut details = Map::new();
    for (name, health) in service_health(app).await {
        reasons.extend(health.waiting_for);
        for (key, value) in health.readiness {
            // If two services use the same key, the second is qualified by its service.
            let key = if details.contains_key(&key) { format!("{name}.{key}") } else { key };
            details.insert(key, value);
        }
    }
    let ready = reasons.is_empty();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Readiness { ready, reasons, details })).into_response()
}

/// `GET /metrics`
pub(super) async fn metrics(State(app): State<App>, Extension(caller): Extension<Arc<Caller>>) -> Response {
    if !sees_details(&app, &caller) {
        let message =
            "metrics require an API key of tier operator, or the listener at server.operator_listen";
        return ApiError::new(ErrorCode::Forbidden, message).into_response();
    }
    all_metrics(&app).await
}

/// All metrics.
async fn all_metrics(app: &App) -> Response {
    for (name, health) in service_health(app).await {
        app.metrics.service(&name, health.is_well);
        for (kind, count) in health.pending {
            app.metrics.pending(&name, kind, count);
        }
    }
    for source in app.sources() {
        if let Some(synced_at) = source.synced_at {
            app.metrics.synced(source.name.as_str(), synced_at);
        }
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.encode()).into_response()
}
