//! Which routes conflict, what a lookup finds, and that nothing else is served.

use std::{path::Path, sync::Arc};

use axum::{body::Body, routing::get};
use http::{Method, Request};
use http_body_util::BodyExt;
use lyceum_tools::{Hub, Registry};
use tempfile::TempDir;

use super::{RouteError, RouteTable, Target};
use crate::{
    app::App,
    config::Config,
    http::{
        cors::effective_method,
        route::{Audience, BodyLimit, Cors, Policy, Protocol, Route},
    },
    mcp,
};

/// A server without services, and its folder.
pub(in crate::http) fn app() -> (App, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!("[server]\ndata_dir = {:?}\n", folder.path());
    let config = Config::from_text(Path::new("lyceum.toml"), &lines).unwrap();
    let hub = Arc::new(Hub::new(Registry::builder().build()));
    (App::with_hub(config, ([127, 0, 0, 1], 0).into(), hub), folder)
}

/// A server with two knowledge bases, one of them named, and its folder.
pub(in crate::http) fn product() -> (App, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!(
        "[server]\ndata_dir = {path:?}\n[[source]]\nname = \"kb\"\npath = {path:?}\n\
         [knowledge]\nsource = \"kb\"\n[knowledge.docs]\nsource = \"kb\"\ntitle = \"Docs\"\n",
        path = folder.path()
    );
    let config = Config::from_text(Path::new("lyceum.toml"), &lines).unwrap();
    (App::new(config, ([127, 0, 0, 1], 0).into()).unwrap(), folder)
}

fn table(routes: Vec<Route>) -> Result<RouteTable, RouteError> {
    let (app, _folder) = app();
    RouteTable::new(routes, &app)
}

async fn handler() -> &'static str {
    "answered"
}

#[track_caller]
fn check_refused(routes: Vec<Route>, message: &str) {
    let refused = table(routes).err().map(|error| error.to_string());
    assert!(refused.as_ref().is_some_and(|refused| refused.contains(message)), "{refused:?}");
}

#[tokio::test]
async fn two_rows_for_one_request_are_refused() {
    let message = "two routes answer GET /a; give one of them another path";
    check_refused(vec![Route::get("/a", handler), Route::get("/a", handler)], message);
    let message = "two routes answer any method /a";
    check_refused(vec![Route::get("/a", handler), Route::any("/a", handler)], message);
    let message = "two routes answer POST /a";
    check_refused(vec![Route::any("/a", handler), Route::post("/a", handler)], message);
    check_refused(vec![Route::get("/a/{id}", handler), Route::post("/a/{name}", handler)], "/a/{id}");
    check_refused(vec![Route::get("/a/{id}", handler), Route::post("/a/{*rest}", handler)], "/a/{id}");
    assert!(table(vec![Route::get("/a", handler), Route::post("/a", handler)]).is_ok());
    // A static segment takes precedence over a parameter.
    let specific = vec![Route::get("/a/b", handler), Route::get("/a/{id}", handler)];
    assert!(table(specific).is_ok());
}

#[tokio::test]
async fn a_path_that_the_router_would_panic_at_is_refused() {
    for path in ["", "a", "{a}"] {
        check_refused(vec![Route::get(path, handler)], "must start with /");
    }
    for path in ["/:a", "/a/*b"] {
        check_refused(vec![Route::get(path, handler)], "parameters are written {name}");
    }
    for path in ["/{", "/}", "/{}", "/{a", "/{*a}/b", "/{a}{b}", "/{a}-b"] {
        check_refused(vec![Route::get(path, handler)], "cannot serve the route");
    }
}

#[tokio::test]
async fn every_row_is_found_with_its_own_policy() {
    let table = table(vec![
        Route::get("/a", handler).audience(Audience::Public),
        Route::post("/a", handler).body(BodyLimit::Bytes(7)),
        Route::any(mcp::PATH, handler).protocol(Protocol::Mcp),
        Route::get("/a/{id}", handler).probe(),
    ]);
    let table = table.unwrap();
    for (method, audience, body) in [
        (Method::GET, Audience::Public, BodyLimit::NoBody),
        (Method::HEAD, Audience::Public, BodyLimit::NoBody),
        (Method::POST, Audience::Caller, BodyLimit::Bytes(7)),
        // Rejected by the router.
        (Method::PUT, Audience::Public, BodyLimit::NoBody),
    ] {
        let found = table.find(&method, "/a");
        assert_eq!((found.policy.audience, found.policy.body), (audience, body), "{method}");
        assert_eq!((&*found.label, found.target), ("/a", Target::Router));
    }
    let mcp = table.find(&Method::PUT, "/mcp");
    assert_eq!((&*mcp.label, mcp.target, mcp.policy.protocol), ("/mcp", Target::Mcp, Protocol::Mcp));
    let named = table.find(&Method::GET, "/a/%2e%2e");
    assert_eq!((&*named.label, named.policy.is_probe), ("/a/{id}", true));
    assert_eq!(table.probes().collect::<Vec<_>>(), ["/a/{id}"]);
}

/// A path that every page may read must not let every page write.
#[tokio::test]
async fn a_browser_that_asks_first_is_judged_by_the_row_of_what_it_means_to_send() {
    let table =
        table(vec![Route::get("/a", handler).cors(Cors::PublicRead), Route::post("/a", handler)]).unwrap();
    for (meant, cors) in
        [("GET", Cors::PublicRead), ("HEAD", Cors::PublicRead), ("POST", Cors::AllowedOrigins)]
    {
        let asking = Request::options("/a").header("access-control-request-method", meant);
        let method = effective_method(&asking.body(Body::empty()).unwrap());
        assert_eq!(table.find(&method, "/a").policy.cors, cors, "{meant}");
    }
    // The header has no effect on other methods.
    let sent = Request::post("/a").header("access-control-request-method", "GET");
    assert_eq!(effective_method(&sent.body(Body::empty()).unwrap()), Method::POST);
}

#[tokio::test]
async fn a_path_without_a_row_is_closed_and_has_no_label_of_its_own() {
    let table = table(vec![Route::any(mcp::PATH, handler).audience(Audience::Public)]).unwrap();
    let long = "/x".repeat(30_000);
    for path in ["", "/", "/x/y/z", "//mcp", "/mcp/", "/MCP", "/%6Dcp", "/mcp%2f", "mcp", "*", &long] {
        let found = table.find(&Method::GET, path);
        let expected = ("other", Target::Nothing, Policy::CLOSED);
        assert_eq!((&*found.label, found.target, found.policy), expected, "{path:.40}");
    }
    assert_eq!(Policy::CLOSED.audience, Audience::Caller);
}

/// What the middleware does with a request: a lookup, and the response of what it found.
async fn asked(table: &RouteTable, path: &str) -> (u16, String) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = table.dispatch(table.find(&Method::GET, path).target, request).await;
    let (head, body) = response.into_parts();
    (head.status.as_u16(), String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

/// Lints prevent other modules from mounting routes; without them, this `expect` would fail. A handler that is mounted
/// anyway can't be reached.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test shows that such a route is unreachable")]
async fn a_handler_without_a_row_is_not_reached() {
    let mut table = table(vec![Route::get("/a", handler)]).unwrap();
    table.router = table.router.route("/hidden", get(handler));
    assert_eq!(asked(&table, "/a").await, (200, "answered".to_owned()));
    assert_eq!(asked(&table, "/hidden").await.0, 404);
}
