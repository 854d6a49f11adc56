//! How the server is: `/livez` (the process), `/readyz` (send requests here?), `/health` (what works), `/metrics`.

use std::collections::BTreeMap;

use axum::{Json, extract::State, response::IntoResponse, response::Response};
use http::{StatusCode, header};
use jiff::Timestamp;
use lyceum_content::{SourceState, SourceStatus};
use serde::Serialize;

use crate::app::App;

#[derive(Serialize)]
struct Health {
    status: &'static str,
    services: BTreeMap<String, &'static str>,
    sources: Vec<SourceStatus>,
    timestamp: Timestamp,
}

pub(super) async fn health(State(app): State<App>) -> Response {
    let sources = app.catalog.get().sources.clone();
    let failed = sources.iter().any(|source| source.state == SourceState::Failed);
    let registry = app.mcp.hub().registry();
    let services = registry.services().map(|service| (service.to_string(), "ok")).collect();
    let status = if failed || app.drain.is_draining() { "degraded" } else { "ok" };
    Json(Health { status, services, sources, timestamp: Timestamp::now() }).into_response()
}

pub(super) async fn live() -> &'static str {
    "ok\n"
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    reasons: Vec<&'static str>,
}

pub(super) async fn ready(State(app): State<App>) -> Response {
    let draining = app.drain.is_draining();
    let reasons = if draining { vec!["the server is about to stop"] } else { Vec::new() };
    let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (status, Json(Readiness { ready: !draining, reasons })).into_response()
}

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.encode()).into_response()
}
