//! Sign-in over HTTP: the endpoints of OAuth and of sign-in with Ethereum, and the page that a person sees.

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
use crate::app::App;

/// What is told of a resource is below this, and the path of the resource follows.
const PROTECTED_RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource";

/// The routes. Where nobody signs in, clients that look for the way are told so.
pub(super) fn routes(app: &App) -> Vec<Route> {
    let accounts = app.auth.iter().flat_map(|_| account_routes());
    let sign_in = sign_in_routes();
    let sign_in = if app.has_sign_in() { sign_in } else { without_sign_in(sign_in) };
    accounts.chain(sign_in).collect()
}

fn account_routes() -> [Route; 2] {
    [
        Route::get("/account", account::show).audience(Audience::SignedIn),
        Route::delete("/account/grants/{id}", account::end_grant).audience(Audience::SignedIn),
    ]
}

fn sign_in_routes() -> Vec<Route> {
    // What a person sees, what clients ask from any page, and what is published for them.
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
        // Clients look for documents of other standards too, and must not take a refusal for one.
        document(Route::any("/.well-known/{*path}", no_document)),
    ]
}

/// The same paths with nothing there: a client that may not call yet learns that it can't sign in either.
fn without_sign_in(routes: Vec<Route>) -> Vec<Route> {
    let mut paths = BTreeSet::new();
    let first = routes.into_iter().filter(|route| paths.insert(route.path().to_owned()));
    first.map(|route| Route::any(route.path.clone(), no_document).policy_of(route.policy)).collect()
}

async fn no_document() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "there is nothing at this path")
}

/// Sign-in, which is there where these routes are.
fn auth(app: &App) -> Result<&Auth, ApiError> {
    let message = "nobody signs in here";
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
