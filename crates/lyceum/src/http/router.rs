//! Every route, in one place.

use axum::{
    Router,
    response::IntoResponse,
    routing::{any, get, post},
};
use lyceum_model::ErrorCode;

use super::{ApiError, api, auth, health, root, tools, webhook};
use crate::{app::App, mcp};

/// The routes of this deployment, all but `/mcp`.
pub fn router(app: App) -> Router {
    let has_api = app.services.has("knowledge");
    let of_services = app.services.iter().map(|service| service.clone().routes());
    let others = if has_api { Router::new() } else { api::absent() };
    of_services
        .fold(others, Router::merge)
        .route("/", get(root::page))
        // `/mcp` itself is answered at the edge, before the router.
        .route("/{service}/mcp", any(mcp::service_endpoint))
        .route("/mcp/server-card", get(mcp::server_card))
        .route("/{service}/mcp/server-card", get(mcp::service_server_card))
        .route("/.well-known/ai-catalog.json", get(mcp::ai_catalog))
        .route("/tools", get(tools::list))
        .route("/tools/{name}/call", post(tools::call))
        .route("/webhooks/github", post(webhook::github))
        .route("/health", get(health::health))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .merge(auth::routes(&app))
        .fallback(async || {
            ApiError::new(ErrorCode::NotFound, "there is nothing at this path").into_response()
        })
        .method_not_allowed_fallback(async || {
            ApiError::new(ErrorCode::MethodNotAllowed, "this path does not take this method").into_response()
        })
        .with_state(app)
}
