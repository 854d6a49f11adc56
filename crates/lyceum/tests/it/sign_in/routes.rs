//! The real route table in each auth mode, with an anonymous request for every row: a new row is tested automatically.

use http::Method;
use lyceum::http::{Audience, BodyLimit};

use super::{Stage, pats, with_token};
use crate::app::{Request, Response, Row, TestApp, get, open as send, post};

/// What anonymous callers may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Everything: mode `open`.
    Open,
    /// What is public (`anonymous = true`).
    Anonymous,
    /// Nothing (`anonymous = false`).
    Closed,
}

/// What a closed server serves to anonymous callers: liveness, a bare status, the documents and pages of sign-in, and
/// webhooks, which are signed. A new line here opens something to everyone.
const OPEN_ROWS: [&str; 21] = [
    "GET /",
    "GET /livez",
    "GET /readyz",
    "GET /health",
    "POST /webhooks/github",
    "GET /authorize",
    "POST /authorize",
    "GET /authorize/page.js",
    "GET /authorize/waap.js",
    "GET /authorize/page.css",
    "GET /siwe/nonce",
    "POST /siwe/nonce",
    "POST /siwe/verify",
    "GET /github/callback",
    "POST /token",
    "POST /register",
    "POST /revoke",
    "GET /.well-known/oauth-authorization-server",
    "GET /.well-known/oauth-protected-resource",
    "GET /.well-known/oauth-protected-resource/{*path}",
    "ANY /.well-known/{*path}",
];

/// Paths that are similar to ours, but don't exist.
const NO_PATHS: [&str; 21] = [
    "/nothing",
    "/x/y/z",
    "//mcp",
    "/mcp/",
    "/MCP",
    "/%6Dcp",
    "/mcp%2F",
    "/mcp%00",
    "/knowledge/mcp/",
    "/x/knowledge/mcp",
    "/health/",
    "//health",
    "/HEALTH",
    "/metrics/x",
    "/.well-known",
    "/tools/../health",
    "/tools/..%2Fhealth",
    "/authorizes",
    "/authorize/x",
    "/siwe/x",
    "/account/grants",
];

/// A concrete path of the row.
fn path(row: &Row) -> String {
    let segment = |segment: &str| match segment {
        "{service}" => "knowledge".to_owned(),
        "{name}" => "server_info".to_owned(),
        "{*path}" => "x/y".to_owned(),
        segment if segment.starts_with('{') => "x".to_owned(),
        segment => segment.to_owned(),
    };
    row.path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// Requests for the row, one for each method.
fn requests(row: &Row) -> Vec<Request> {
    let methods = match &row.method {
        Some(method) => vec![method.clone()],
        None => vec![Method::GET, Method::POST, Method::DELETE],
    };
    let request = |method: Method| {
        let path = path(row);
        let mut request = if row.policy.body == BodyLimit::NoBody { get(&path) } else { post(&path, "{}") };
        *request.method_mut() = method;
        request
    };
    methods.into_iter().map(request).collect()
}

/// Whether the response is the 401 of authentication.
fn is_told_to_sign_in(answer: &Response) -> bool {
    let challenge = answer.header("www-authenticate");
    // The permission check, which comes later, says what is missing.
    answer.status == 401 && challenge.starts_with("Bearer") && !challenge.contains("scope=")
}

#[track_caller]
fn check(mode: Mode, row: &Row, answer: &Response) {
    let is_refused = match (row.policy.audience, mode) {
        (Audience::Public | Audience::Optional, _) | (_, Mode::Open) => false,
        (Audience::Caller | Audience::Operator, Mode::Anonymous) => false,
        (Audience::SignedIn, Mode::Anonymous) => true,
        (Audience::Caller | Audience::SignedIn | Audience::Operator, Mode::Closed) => true,
    };
    assert_eq!(is_told_to_sign_in(answer), is_refused, "{mode:?} {row:?}: {answer:?}");
    assert!(answer.status < 500, "{mode:?} {row:?}: {answer:?}");
    if !is_refused && row.method.is_some() {
        assert_ne!(answer.status, 405, "{mode:?} {row:?}: {answer:?}");
    }
}

/// The same with an invalid token: it is rejected wherever authentication matters.
#[track_caller]
fn check_bad_token(mode: Mode, row: &Row, answer: &Response) {
    let is_refused = mode != Mode::Open && row.policy.audience != Audience::Public;
    assert_eq!(is_told_to_sign_in(answer), is_refused, "{mode:?} {row:?}: {answer:?}");
}

async fn walk(app: &TestApp, mode: Mode) {
    assert!(app.routes.len() >= 30, "{:?}", app.routes);
    for row in &app.routes {
        for request in requests(row) {
            check(mode, row, &app.send(request.clone()).await);
            check_bad_token(mode, row, &app.send(with_token(request, "nonsense")).await);
        }
    }
    let expected = if mode == Mode::Closed { 401 } else { 404 };
    for path in NO_PATHS {
        assert_eq!(app.send(get(path)).await.status, expected, "{mode:?} {path}");
    }
    let long = "/x".repeat(10_000);
    assert_eq!(app.send(get(&long)).await.status, expected, "{mode:?}");
}

async fn open() -> TestApp {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/example");
    let app = TestApp::product_of(&format!(
        "[[source]]\nname = \"kb\"\npath = {example:?}\n[knowledge]\nsource = \"kb\""
    ))
    .await;
    let ready = async || app.send(get("/readyz")).await.status == 200;
    crate::app::within("the knowledge base is read", async { while !ready().await {} }).await;
    app
}

/// Every row has its own metrics label, and all other paths share one.
#[tokio::test]
async fn an_open_server_answers_everyone_on_every_row() {
    let app = open().await;
    walk(&app, Mode::Open).await;
    let metrics = app.send(get("/metrics")).await;
    for row in &app.routes {
        let label = format!("http_route=\"{}\"", row.path);
        assert!(metrics.text().contains(&label), "no {label} in\n{}", metrics.text());
    }
    assert!(metrics.text().contains("http_route=\"other\""));
    for path in NO_PATHS {
        assert!(!metrics.text().contains(&format!("\"{path}\"")), "{path}");
    }
}

#[tokio::test]
async fn a_server_with_sign_in_leaves_strangers_to_the_gate() {
    let stage = Stage::start().await;
    walk(&stage.app, Mode::Anonymous).await;
}

#[tokio::test]
async fn s13_a_closed_server_asks_strangers_to_sign_in_on_every_row_but_those_that_are_open() {
    let stage = Stage::with(|oauth| oauth.anonymous = false).await;
    walk(&stage.app, Mode::Closed).await;
    let is_open = |row: &&Row| matches!(row.policy.audience, Audience::Public | Audience::Optional);
    let name = |row: &Row| format!("{} {}", row.method.as_ref().map_or("ANY", Method::as_str), row.path);
    let open: Vec<String> = stage.app.routes.iter().filter(is_open).map(name).collect();
    assert_eq!(open, OPEN_ROWS);
}

#[tokio::test]
async fn a_server_that_takes_tokens_of_github_is_closed_alike() {
    let (stage, github) = pats::start().await;
    walk(&stage.app, Mode::Closed).await;
    assert_eq!(github.requests(), Vec::<String>::new(), "a stranger costs no question to GitHub");
}

#[tokio::test]
async fn s13_the_listener_of_operators_serves_the_probes_and_no_other_row() {
    let stage = Stage::of("operator_listen = \"127.0.0.1:0\"", |oauth| oauth.anonymous = false).await;
    let operators = stage.app.operators.unwrap();
    for row in &stage.app.routes {
        for request in requests(row) {
            let answer = send(operators, request).await.unwrap().whole().await;
            assert_eq!(answer.status, if row.policy.is_probe { 200 } else { 404 }, "{row:?}: {answer:?}");
        }
    }
    let probes = stage.app.routes.iter().filter(|row| row.policy.is_probe).map(|row| row.path.as_str());
    assert_eq!(probes.collect::<Vec<_>>(), ["/livez", "/readyz", "/health", "/metrics"]);
}
