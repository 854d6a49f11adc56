//! Sign-in over HTTP: OAuth endpoints, Sign-In with Ethereum, and the sign-in page.

mod account;
mod admit;
mod answer;
mod authorize;
mod clients;
mod page;
mod siwe;
mod stream;

use std::collections::BTreeSet;

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use lyceum_auth::Auth;
use lyceum_model::ErrorCode;

pub(crate) use admit::challenge_denied;
pub(super) use admit::{admit, denial};
pub(crate) use stream::Admission;

use super::{
    ApiError,
    route::{Audience, BodyLimit, Cors, RateClass, Route},
};
use crate::{app::App, config::AuthMode};

/// Path of protected resource metadata (RFC 9728); the path of the resource follows.
const PROTECTED_RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource";

/// The routes of a server that authenticates its callers.
pub(crate) fn routes(mode: AuthMode) -> Vec<Route> {
    let sign_in = match mode {
        AuthMode::Oauth => sign_in_routes(),
        AuthMode::Open | AuthMode::GithubPat | AuthMode::ApiKey => absent(),
    };
    account_routes().into_iter().chain(sign_in).collect()
}

/// The sign-in paths of a server without sign-in: each answers 404, so that a client that looks for OAuth metadata finds none.
pub(super) fn absent() -> Vec<Route> {
    let mut paths = BTreeSet::new();
    let first = sign_in_routes().into_iter().filter(|route| paths.insert(route.path().to_owned()));
    first.map(|route| Route::any(route.path.clone(), no_document).with_policy(route.policy)).collect()
}

fn account_routes() -> [Route; 2] {
    [
        Route::get("/account", account::show).audience(Audience::SignedIn),
        Route::delete("/account/grants/{id}", account::end_grant).audience(Audience::SignedIn),
    ]
}

fn sign_in_routes() -> Vec<Route> {
    // Pages for people, endpoints for clients (any origin), static files, and metadata documents (any origin).
    let page = |route: Route| route.audience(Audience::Public).rate(RateClass::SignIn);
    let client = |route: Route| page(route).cors(Cors::AnyOrigin);
    let file = |route: Route| route.audience(Audience::Public).rate(RateClass::Own);
    let document = |route: Route| file(route).cors(Cors::AnyOrigin);
    vec![
        page(Route::get("/authorize", authorize::show_sign_in)),
        page(Route::post("/authorize", authorize::decide)).body(BodyLimit::Bytes(authorize::MAX_FORM_BYTES)),
        file(Route::get("/authorize/page.js", page::script)),
        file(Route::get("/authorize/waap.js", page::waap_script)),
        file(Route::get("/authorize/page.css", page::style)),
        page(Route::get("/siwe/nonce", siwe::nonce)),
        page(Route::post("/siwe/nonce", siwe::message)).body(BodyLimit::Bytes(siwe::MAX_BODY_BYTES)),
        page(Route::post("/siwe/verify", siwe::verify)).body(BodyLimit::Bytes(siwe::MAX_BODY_BYTES)),
        page(Route::get("/github/callback", authorize::from_github)),
        client(Route::post("/token", clients::token)).body(BodyLimit::Bytes(clients::MAX_BODY_BYTES)),
        client(Route::post("/register", clients::register)).body(BodyLimit::Bytes(clients::MAX_BODY_BYTES)),
        client(Route::post("/revoke", clients::revoke)).body(BodyLimit::Bytes(clients::MAX_BODY_BYTES)),
        document(Route::get("/.well-known/oauth-authorization-server", server_metadata)),
        document(Route::get(PROTECTED_RESOURCE_PATH, first_resource)),
        document(Route::get("/.well-known/oauth-protected-resource/{*path}", resource)),
        // Clients probe for metadata of other standards; a 404 keeps them from mistaking a 401 for a document.
        document(Route::any("/.well-known/{*path}", no_document)),
    ]
}

async fn no_document() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "no such path")
}

/// The sign-in service, which exists wherever these routes are mounted.
fn auth(app: &App) -> Result<&Auth, ApiError> {
    let message = "sign-in is not enabled on this server";
    app.auth.as_ref().ok_or_else(|| ApiError::new(ErrorCode::NotFound, message))
}

async fn server_metadata(State(app): State<App>) -> Result<Response, ApiError> {
    Ok(Json(auth(&app)?.metadata()).into_response())
}

async fn first_resource(State(app): State<App>) -> Result<Response, ApiError> {
    resource_at(&app, "/mcp")
}

async fn resource(State(app): State<App>, Path(path): Path<String>) -> Result<Response, ApiError> {
    resource_at(&app, &format!("/{path}"))
}

fn resource_at(app: &App, path: &str) -> Result<Response, ApiError> {
    let nothing = || ApiError::new(ErrorCode::NotFound, "there is no such resource here");
    let metadata = auth(app)?.resource_metadata(path).ok_or_else(nothing)?;
    Ok(Json(metadata).into_response())
}
