//! Sign-in over HTTP: the endpoints of OAuth and of sign-in with Ethereum, and the page that a person sees.

mod account;
mod admit;
mod answer;
mod authorize;
mod clients;
mod page;
mod siwe;
mod stream;

use axum::{
    Json, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use lyceum_auth::Auth;
use lyceum_model::ErrorCode;

pub(crate) use admit::{admit, challenge_denied};
pub(crate) use stream::Admission;

use super::ApiError;
use crate::app::App;

/// What is told of a resource is below this, and the path of the resource follows.
const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// The routes, where it matters who calls.
pub(super) fn routes(app: &App) -> Router<App> {
    if app.auth.is_none() {
        return Router::new();
    }
    let accounts = Router::new()
        .route("/account", get(account::show))
        .route("/account/grants/{id}", delete(account::end_grant));
    if !app.has_sign_in() {
        return accounts;
    }
    accounts
        .route("/authorize", get(authorize::ask).post(authorize::decide))
        .route("/authorize/page.js", get(page::script))
        .route("/authorize/waap.js", get(page::waap_script))
        .route("/authorize/page.css", get(page::style))
        .route("/siwe/nonce", get(siwe::nonce).post(siwe::message))
        .route("/siwe/verify", post(siwe::verify))
        .route("/github/callback", get(authorize::from_github))
        .route("/token", post(clients::token))
        .route("/register", post(clients::register))
        .route("/revoke", post(clients::revoke))
        .route("/.well-known/oauth-authorization-server", get(server_metadata))
        .route(RESOURCE, get(first_resource))
        .route("/.well-known/oauth-protected-resource/{*path}", get(resource))
}

/// Whether any page may ask this: what clients in a browser need before they have a token.
pub(super) fn is_for_clients(path: &str) -> bool {
    matches!(path, "/token" | "/register" | "/revoke")
}

/// Whether each request costs us something, so that nobody may send very many.
pub(super) fn is_counted(path: &str) -> bool {
    is_for_clients(path) || path == "/authorize" || path == "/github/callback" || path.starts_with("/siwe/")
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
