//! The public REST API below `/api/v1`, and `/llms.txt`: reading the knowledge base without an MCP client.
//!
//! One table makes the routes and their description, so that none can be without the other. Reads are for any page and
//! any cache, unless `[knowledge] api` keeps them for members; what is not published is not in the catalog, and so not here.

mod accept;
mod cached;
mod endpoint;
mod entries;
mod entry;
mod llms;
mod openapi;
mod query;
mod search;
mod sync;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{any, on},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use lyceum_knowledge::{Knowledge, Readers, Shown};
use lyceum_model::{Caller, ErrorCode};

use super::{ApiError, challenge_denied};
use crate::{
    app::App,
    config::KnowledgeApi,
    knowledge::{KnowledgeBase, readers},
    service::Service,
};
use endpoint::{Audience, Endpoint};

pub use openapi::openapi;

/// Everything there is.
const ENDPOINTS: [Endpoint; 6] =
    [entries::ENDPOINT, entry::ENDPOINT, search::ENDPOINT, openapi::ENDPOINT, llms::ENDPOINT, sync::ENDPOINT];

/// What all paths but `/llms.txt` begin with.
const ROOT: &str = "/api/v1/";

/// The paths that are no reads.
const OPERATOR: &str = "/api/v1/sources/";

/// Seconds after which what is not there yet may be.
const AGAIN_AFTER: u64 = 5;

/// What an endpoint works with.
#[derive(Clone)]
pub(super) struct Api {
    app: App,
    base: Arc<KnowledgeBase>,
}

impl Api {
    /// The path of a request, as it is for the knowledge base that has no name of its own.
    fn path<'r>(&self, request: &'r Request) -> &'r str {
        let path = request.uri().path();
        path.strip_prefix(&self.base.root()).unwrap_or(path)
    }
}

/// The routes of a knowledge base.
pub(crate) fn routes(base: &Arc<KnowledgeBase>) -> Router<App> {
    let is_there = |one: &&Endpoint| match base.api() {
        KnowledgeApi::Public | KnowledgeApi::Member => true,
        KnowledgeApi::Off => one.audience == Audience::OfTool,
    };
    let root = base.root();
    let mounted: Vec<&Endpoint> = ENDPOINTS.iter().filter(is_there).collect();
    let has = |path: &str| mounted.iter().any(|one| one.path == path);
    let others = OTHERS.into_iter().filter(|path| !has(path));
    let is_off = base.api() == KnowledgeApi::Off;
    let router = others.fold(Router::new(), |router, path| {
        router.route(&format!("{root}{path}"), any(async move || nothing(is_off)))
    });
    mounted.iter().fold(router, |router, one| {
        let (handler, audience, base) = (one.handler, one.audience, base.clone());
        let route = on(one.verb.filter(), async move |State(app): State<App>, request: Request| {
            if let Err(refusal) = permit(&app, &base, audience, &request) {
                return *refusal;
            }
            handler(Api { app, base }, request).await.unwrap_or_else(ApiError::into_response)
        });
        router.route(&format!("{root}{}", one.path), route)
    })
}

/// The paths that are answered whether or not something is there.
const OTHERS: [&str; 4] = ["/api/v1", "/api/v1/", "/api/v1/{*path}", llms::PATH];

/// Without a knowledge base, the way to one.
pub(super) fn absent() -> Router<App> {
    OTHERS.into_iter().fold(Router::new(), |router, path| router.route(path, any(async || no_knowledge())))
}

/// Asks the gate whether the caller may use an endpoint.
fn permit(
    app: &App,
    base: &KnowledgeBase,
    audience: Audience,
    request: &Request,
) -> Result<(), Box<Response>> {
    let access = match audience {
        Audience::OfTool => return Ok(()),
        Audience::Public => Readers::Everyone.access(base.name()),
        Audience::Readers => readers(base.api()).access(base.name()),
    };
    let caller = caller_of(request);
    lyceum_tools::permit(&caller, &access).map_err(|denied| {
        let message = format!("Access denied. The API requires {}.", denied.needs());
        let details = lyceum_tools::Error::from(denied.clone()).details();
        let told = ApiError { details, ..ApiError::new(ErrorCode::ScopeMissing, message) };
        let mut response = told.into_response();
        challenge_denied(app, &mut response, "/mcp", &caller, &denied);
        Box::new(response)
    })
}

/// Who sends a request, as the edge found out.
fn caller_of(request: &Request) -> Arc<Caller> {
    let caller = request.extensions().get::<Arc<Caller>>().cloned();
    caller.unwrap_or_else(|| Caller::anonymous().into())
}

fn nothing(is_off: bool) -> ApiError {
    let message = if is_off {
        "the REST API is off here (knowledge.api); read the knowledge base by MCP, at /mcp"
    } else {
        "there is nothing at this path; GET /api/v1/openapi.json tells what there is"
    };
    ApiError::new(ErrorCode::NotFound, message)
}

fn no_knowledge() -> ApiError {
    let message = "there is no knowledge base here; declare one in lyceum.toml with \
                   [[source]] name = \"kb\", path = \"…\" and [knowledge] source = \"kb\"";
    ApiError::new(ErrorCode::NotFound, message)
}

/// What is served at this moment; waits for the first sync.
async fn shown(knowledge: &Knowledge) -> Result<Arc<Shown>, ApiError> {
    let shown = knowledge.shown();
    if shown.version.is_some() {
        return Ok(shown);
    }
    knowledge.ready().await.map_err(|error| failed(&error))
}

/// What went wrong below, for a client that may try again.
fn failed(error: &lyceum_tools::Error) -> ApiError {
    let told = ApiError::from(error);
    if told.code == ErrorCode::Unavailable { told.retry_after(AGAIN_AFTER) } else { told }
}

/// Whether a request only reads what needs no sign-in.
pub(super) fn is_read(method: &Method, path: &str) -> bool {
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let is_public = path == llms::PATH || path.starts_with(ROOT) && !path.starts_with(OPERATOR);
    reads && is_public
}

/// Lets any page see the answer to a read: the same for all of them, and never for credentials.
pub(super) fn open_to_all(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("ETag, Retry-After, X-Request-ID"),
    );
}

/// A refusal is not to be kept by a cache.
pub(super) fn keep_no_refusal(response: &mut Response) {
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// What is for those who signed in is not to be kept by a cache that others ask too.
pub(super) fn keep_to_oneself(headers: &mut HeaderMap) {
    let kept = headers.get(header::CACHE_CONTROL).and_then(|kept| kept.to_str().ok()).unwrap_or_default();
    if kept.starts_with("public") {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"));
    }
    headers.append(header::VARY, HeaderValue::from_static("Authorization"));
}

/// The answer to a browser that asks before it reads.
pub(super) fn preflight() -> Response {
    let mut headers = HeaderMap::new();
    let fixed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, OPTIONS"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "*"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    (StatusCode::NO_CONTENT, headers).into_response()
}

#[cfg(test)]
mod tests;
