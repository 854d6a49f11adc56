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
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use lyceum_knowledge::{Knowledge, Readers, Shown};
use lyceum_model::{Caller, ErrorCode};

use super::{
    ApiError, challenge_denied,
    route::{Cors, Route},
};
use crate::{
    app::{App, KNOWLEDGE},
    config::KnowledgeApi,
    knowledge::readers,
};
use endpoint::{EndpointAccess, Verb};

pub(crate) use endpoint::Endpoint;
pub(crate) use openapi::Openapi;
pub use openapi::openapi;

/// Everything there is.
static ENDPOINTS: [Endpoint; 6] =
    [entries::ENDPOINT, entry::ENDPOINT, search::ENDPOINT, openapi::ENDPOINT, llms::ENDPOINT, sync::ENDPOINT];

/// What the paths of operators begin with.
const OPERATOR: &str = "/api/v1/sources/";

/// Seconds after which what is not there yet may be.
const AGAIN_AFTER: u64 = 5;

/// The routes; without a knowledge base, the way to one.
pub(super) fn routes(app: &App) -> Vec<Route> {
    routes_of(app.knowledge.as_ref().map(|_| api(app)))
}

fn routes_of(api: Option<KnowledgeApi>) -> Vec<Route> {
    let mut routes = api.map(endpoint_routes).unwrap_or_default();
    let others = [
        ("/api/v1", Cors::AllowedOrigins),
        ("/api/v1/", Cors::PublicRead),
        ("/api/v1/{*path}", Cors::PublicRead),
        (llms::PATH, Cors::PublicRead),
    ];
    for (path, cors) in others {
        if routes.iter().all(|route| route.path() != path) {
            routes.push(Route::any(path, nothing).cors(cors));
        }
    }
    routes
}

/// The routes of the endpoints, where those may read.
fn endpoint_routes(api: KnowledgeApi) -> Vec<Route> {
    let is_there = |one: &&Endpoint| match api {
        KnowledgeApi::Public | KnowledgeApi::Member => true,
        KnowledgeApi::Off => one.access == EndpointAccess::OfTool,
    };
    ENDPOINTS.iter().filter(is_there).map(endpoint_route).collect()
}

fn endpoint_route(endpoint: &'static Endpoint) -> Route {
    let (handler, access) = (endpoint.handler, endpoint.access);
    let handler = async move |State(app): State<App>, request: Request| {
        if let Err(refusal) = permit(&app, access, &request) {
            return *refusal;
        }
        handler(app, request).await.unwrap_or_else(ApiError::into_response)
    };
    let route = match endpoint.verb {
        Verb::Get => Route::get(endpoint.path, handler).cors(Cors::PublicRead),
        Verb::Post => Route::post(endpoint.path, handler),
    };
    route.described_by(endpoint)
}

/// The endpoints that are described.
fn described() -> impl Iterator<Item = &'static Endpoint> {
    endpoint_routes(KnowledgeApi::Public).into_iter().filter_map(|route| route.doc)
}

/// Who may read documents here.
fn api(app: &App) -> KnowledgeApi {
    app.config.knowledge.as_ref().map(|service| service.api).unwrap_or_default()
}

/// Asks the gate whether the caller may use an endpoint.
fn permit(app: &App, access: EndpointAccess, request: &Request) -> Result<(), Box<Response>> {
    let access = match access {
        EndpointAccess::OfTool => return Ok(()),
        EndpointAccess::Public => Readers::Everyone.access(&KNOWLEDGE),
        EndpointAccess::Readers => readers(api(app)).access(&KNOWLEDGE),
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

async fn nothing(State(app): State<App>) -> ApiError {
    match knowledge(&app) {
        Ok(_) if api(&app) == KnowledgeApi::Off => {
            let message = "the REST API is off here (knowledge.api); read the knowledge base by MCP, at /mcp";
            ApiError::new(ErrorCode::NotFound, message)
        }
        Ok(_) => {
            let message = "there is nothing at this path; GET /api/v1/openapi.json tells what there is";
            ApiError::new(ErrorCode::NotFound, message)
        }
        Err(error) => error,
    }
}

/// The knowledge base, or how to have one.
fn knowledge(app: &App) -> Result<&Arc<Knowledge>, ApiError> {
    app.knowledge.as_ref().ok_or_else(|| {
        let message = "there is no knowledge base here; declare one in lyceum.toml with \
                       [[source]] name = \"kb\", path = \"…\" and [knowledge] source = \"kb\"";
        ApiError::new(ErrorCode::NotFound, message)
    })
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

#[cfg(test)]
mod tests;
