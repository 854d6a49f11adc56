//! Discovery documents, which clients read before they connect: server cards, and their catalog.

use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use lyceum_model::{Caller, Domain, ErrorCode};
use lyceum_tools::mcp::{ProtocolVersion, SUPPORTED_VERSIONS};
use serde_json::{Value, json};

use crate::{app::App, http::ApiError};

/// `GET /mcp/server-card`.
pub(super) async fn server_card(State(app): State<App>, headers: HeaderMap) -> Response {
    published(&headers, "application/mcp-server-card+json", &card(&app, None))
}

/// `GET /{service}/mcp/server-card`.
pub(super) async fn service_server_card(
    State(app): State<App>,
    Path(service): Path<String>,
    headers: HeaderMap,
) -> Response {
    let registry = app.mcp.hub().registry();
    if registry.service(&service).is_none_or(|service| !is_for_everyone(&app, service)) {
        return ApiError::new(ErrorCode::NotFound, "unknown service").into_response();
    }
    published(&headers, "application/mcp-server-card+json", &card(&app, Some(&service)))
}

/// `GET /.well-known/ai-catalog.json`.
pub(super) async fn ai_catalog(State(app): State<App>, headers: HeaderMap) -> Response {
    let registry = app.mcp.hub().registry();
    let services = registry.services().filter(|service| is_for_everyone(&app, service));
    let services = services.map(|service| Some(service.as_str()));
    let entries: Vec<Value> =
        std::iter::once(None).chain(services).map(|service| entry(&app, service)).collect();
    published(&headers, "application/ai-catalog+json", &json!({ "specVersion": "1.0", "entries": entries }))
}

/// Whether a service has discovery documents, which everyone may read and cache.
fn is_for_everyone(app: &App, service: &Domain) -> bool {
    app.services.shows(service, &Caller::anonymous())
}

fn entry(app: &App, service: Option<&str>) -> Value {
    let url = app.public_url();
    let host = url.split("://").nth(1).and_then(|rest| rest.split([':', '/']).next()).unwrap_or("localhost");
    json!({
        "identifier": format!("urn:air:{host}:mcp:{}", service.unwrap_or("lyceum")),
        "displayName": title(service),
        "type": "application/mcp-server-card+json",
        "url": format!("{}/server-card", endpoint(app, service)),
    })
}

fn card(app: &App, service: Option<&str>) -> Value {
    let versions: Vec<&str> = SUPPORTED_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
        "name": format!("org.lyceum/{}", service.unwrap_or("lyceum")),
        "version": env!("CARGO_PKG_VERSION"),
        "title": title(service),
        "description": "Knowledge kept in Git repositories, for AI assistants",
        "remotes": [{
            "type": "streamable-http",
            "url": endpoint(app, service),
            "supportedProtocolVersions": versions,
        }],
    })
}

fn title(service: Option<&str>) -> String {
    service.map_or_else(|| "lyceum".to_owned(), |service| format!("lyceum: {service}"))
}

fn endpoint(app: &App, service: Option<&str>) -> String {
    match service {
        Some(service) => format!("{}/{service}/mcp", app.public_url()),
        None => format!("{}/mcp", app.public_url()),
    }
}

/// A document that every origin may read and every cache may store for an hour.
fn published(headers: &HeaderMap, kind: &'static str, document: &Value) -> Response {
    let text = document.to_string();
    let etag = format!("\"{:016x}\"", fingerprint(text.as_bytes()));
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|sent| sent.as_bytes() == etag.as_bytes());
    let mut response = if known { StatusCode::NOT_MODIFIED.into_response() } else { text.into_response() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    if let Ok(etag) = HeaderValue::try_from(etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}

/// FNV-1a, which is stable across builds, unlike the hasher of the standard library.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
