//! The REST API below `/api/v1`, and `/llms.txt`: read access to a knowledge base without an MCP client.
//!
//! One table defines both the routes and their OpenAPI description. `[knowledge] public` says what everyone may read;
//! that is open to all origins and caches. Unpublished documents are not in the catalog, and so not in the API.

mod accept;
mod cached;
mod drafts;
mod endpoint;
mod entries;
mod entry;
mod llms;
mod openapi;
mod query;
mod search;
mod sync;
mod tool_call;

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use lyceum_knowledge::{CatalogSnapshot, Knowledge};
use lyceum_model::{Access, Caller, ErrorCode};

use super::{
    ApiError, challenge_denied,
    route::{Cors, Route},
};
use crate::{app::App, knowledge::KnowledgeBase, service::Service};
use endpoint::{EndpointAccess, Verb};

pub(crate) use endpoint::Endpoint;
pub use openapi::openapi;

/// All endpoints.
static ENDPOINTS: [Endpoint; 7] = [
    entries::ENDPOINT,
    entry::ENDPOINT,
    search::ENDPOINT,
    openapi::ENDPOINT,
    llms::ENDPOINT,
    sync::ENDPOINT,
    drafts::ENDPOINT,
];

/// The root of the API of the unnamed knowledge base.
pub(super) const ROOT: &str = "/api/v1";

/// Path prefix of the operator endpoints.
const OPERATOR_PREFIX: &str = "/api/v1/sources/";

/// `Retry-After` of content that is not available yet, in seconds.
const RETRY_AFTER_SECONDS: u64 = 5;

/// The context of an endpoint.
pub(crate) struct Api {
    app: App,
    base: Arc<KnowledgeBase>,
}

impl Api {
    /// The path of a request, without the name of the knowledge base.
    fn path<'r>(&self, request: &'r Request) -> &'r str {
        let path = request.uri().path();
        path.strip_prefix(&self.base.root()).unwrap_or(path)
    }
}

/// The routes of a knowledge base.
pub(crate) fn routes(base: &Arc<KnowledgeBase>) -> Vec<Route> {
    let root = base.root();
    let endpoints = ENDPOINTS.iter().map(|one| endpoint_route(base, &root, one)).collect();
    with_fallbacks(endpoints, &root, not_found)
}

/// The routes if there is no knowledge base: errors that say how to configure one.
pub(super) fn absent() -> Vec<Route> {
    with_fallbacks(Vec::new(), "", no_knowledge)
}

/// Adds a fallback for every other path of the API.
fn with_fallbacks(
    mut routes: Vec<Route>,
    root: &str,
    refusal: impl Fn() -> ApiError + Copy + Send + Sync + 'static,
) -> Vec<Route> {
    let fallbacks = [
        (ROOT, Cors::AllowedOrigins),
        ("/api/v1/", Cors::PublicRead),
        ("/api/v1/{*path}", Cors::PublicRead),
        (llms::PATH, Cors::PublicRead),
    ];
    for (path, cors) in fallbacks {
        let path = format!("{root}{path}");
        if routes.iter().all(|route| route.path() != path) {
            routes.push(Route::any(path, async move || refusal()).cors(cors));
        }
    }
    routes
}

fn endpoint_route(base: &Arc<KnowledgeBase>, root: &str, endpoint: &'static Endpoint) -> Route {
    let (run, access, base) = (endpoint.handler, access_of(base, endpoint.access), base.clone());
    let is_public = access.as_ref().is_some_and(Access::is_public);
    let handler = async move |State(app): State<App>, request: Request| {
        if let Some(refusal) = access.and_then(|access| denial(&app, &access, &request)) {
            return refusal;
        }
        run(Api { app, base }, request).await.unwrap_or_else(ApiError::into_response)
    };
    let path = format!("{root}{}", endpoint.path);
    let route = match endpoint.verb {
        Verb::Get if is_public => Route::get(path, handler).cors(Cors::PublicRead),
        Verb::Get => Route::get(path, handler).cors(Cors::MemberRead),
        Verb::Post => Route::post(path, handler),
    };
    route.described_by(endpoint)
}

/// The access rule of an endpoint; `None` if the tool behind it has its own.
fn access_of(base: &KnowledgeBase, access: EndpointAccess) -> Option<Access> {
    match access {
        EndpointAccess::Summaries => Some(base.public().summaries(base.name())),
        EndpointAccess::Documents => Some(base.public().documents(base.name())),
        EndpointAccess::OfTool => None,
    }
}

/// The response, if the gate refuses the caller.
fn denial(app: &App, access: &Access, request: &Request) -> Option<Response> {
    let caller = caller_of(request);
    let denied = lyceum_tools::permit(&caller, access).err()?;
    let message = format!("Access denied. This endpoint requires {}.", denied.needs());
    let details = lyceum_tools::Error::from(denied.clone()).details();
    let error = ApiError { details, ..ApiError::new(ErrorCode::ScopeMissing, message) };
    let mut response = error.into_response();
    challenge_denied(app, &mut response, "/mcp", &caller, &denied);
    Some(response)
}

/// The caller that the middleware authenticated.
fn caller_of(request: &Request) -> Arc<Caller> {
    let caller = request.extensions().get::<Arc<Caller>>().cloned();
    caller.unwrap_or_else(|| Caller::anonymous().into())
}

fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "no such path; GET /api/v1/openapi.json describes the API")
}

fn no_knowledge() -> ApiError {
    let message = "no knowledge base is configured; add to lyceum.toml \
                   [[source]] name = \"kb\", path = \"…\" and [knowledge] source = \"kb\"";
    ApiError::new(ErrorCode::NotFound, message)
}

/// The current catalog; waits for the first sync.
async fn catalog(knowledge: &Knowledge) -> Result<Arc<CatalogSnapshot>, ApiError> {
    let snapshot = knowledge.snapshot();
    if snapshot.version.is_some() {
        return Ok(snapshot);
    }
    knowledge.ready().await.map_err(|error| failed(&error))
}

/// Converts an error, with `Retry-After` if a retry may succeed.
fn failed(error: &lyceum_tools::Error) -> ApiError {
    let error = ApiError::from(error);
    if error.code == ErrorCode::Unavailable { error.retry_after(RETRY_AFTER_SECONDS) } else { error }
}

#[cfg(test)]
mod tests;
