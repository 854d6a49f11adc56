//! `Origin` and `Host` checks.

use http::Method;
use serde_json::json;

use crate::app::{Request, Response, Settings, TestApp, fixture, get, modern};

const SETTINGS: Settings = Settings {
    server: "public_url = \"https://lyceum.example\"\nallowed_origins = [\"https://app.example\"]\n\
             allowed_hosts = [\"lyceum.internal\"]",
    limits: "",
};

fn from(origin: &str, mut request: Request) -> Request {
    request.headers_mut().insert("origin", origin.parse().unwrap());
    request
}

fn to(host: &str, mut request: Request) -> Request {
    request.headers_mut().insert("host", host.parse().unwrap());
    request
}

fn is_forbidden(answer: &Response) -> bool {
    let error = &answer.json()["error"];
    let code = error.pointer("/data/error_code").unwrap_or(&error["code"]);
    answer.status == 403 && *code == "FORBIDDEN"
}

/// Checks over MCP and REST whether an origin is allowed.
async fn check_origin(app: &TestApp, origin: &str, allowed: bool) {
    for request in [get("/tools"), modern("tools/list", &json!({}))] {
        let answer = app.send(from(origin, request)).await;
        let shared = answer.header("access-control-allow-origin");
        if allowed {
            assert_eq!((answer.status, shared), (200, origin));
            assert!(answer.header("access-control-expose-headers").contains("Mcp-Session-Id"));
            assert_eq!(answer.header("vary"), "Origin");
        } else {
            assert!(is_forbidden(&answer) && shared.is_empty(), "{origin}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn only_pages_of_the_allowed_origins_may_call() {
    let app = TestApp::with(fixture(), SETTINGS).await;
    for origin in ["https://app.example", "http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:1"]
    {
        check_origin(&app, origin, true).await;
    }
    let foreign = [
        "https://evil.example",
        "http://app.example",
        "https://app.example:8443",
        "https://app.example.evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "https://app.example@evil.example",
        "file://",
        "null",
        "",
    ];
    for origin in foreign {
        check_origin(&app, origin, false).await;
    }
    app.stop().await;
}

#[tokio::test]
async fn a_program_sends_no_origin_and_may_call() {
    let app = TestApp::start().await;
    let answer = app.send(get("/tools")).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, ""));
    app.stop().await;
}

#[tokio::test]
async fn a_refusal_speaks_the_language_of_the_door() {
    let app = TestApp::start().await;
    let rest = app.send(from("https://evil.example", get("/tools"))).await;
    insta::assert_json_snapshot!(rest.json(), @r#"
    {
      "error": {
        "code": "FORBIDDEN",
        "message": "this Origin is not allowed; add it to server.allowed_origins"
      }
    }
    "#);
    let mcp = app.send(from("https://evil.example", modern("tools/list", &json!({})))).await;
    insta::assert_json_snapshot!(mcp.json(), @r#"
    {
      "error": {
        "code": 4030,
        "data": {
          "error_code": "FORBIDDEN"
        },
        "message": "this Origin is not allowed; add it to server.allowed_origins"
      },
      "jsonrpc": "2.0"
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn a_browser_may_ask_before_it_calls() {
    let app = TestApp::with(fixture(), SETTINGS).await;
    let preflight = |origin: &str| {
        let mut request = from(origin, get("/mcp"));
        *request.method_mut() = Method::OPTIONS;
        request.headers_mut().insert("access-control-request-method", "POST".parse().unwrap());
        request
    };
    let answer = app.send(preflight("https://app.example")).await;
    assert_eq!((answer.status, answer.text()), (204, ""));
    assert_eq!(answer.header("access-control-allow-origin"), "https://app.example");
    assert!(answer.header("access-control-allow-methods").contains("POST"));
    for header in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Content-Type"] {
        assert!(answer.header("access-control-allow-headers").contains(header), "{header}");
    }
    assert!(is_forbidden(&app.send(preflight("https://evil.example")).await));
    app.stop().await;
}

#[tokio::test]
async fn the_server_answers_to_its_own_names_alone() {
    let app = TestApp::with(fixture(), SETTINGS).await;
    let ours =
        ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:80", "lyceum.example", "lyceum.internal:80"];
    for host in ours {
        assert_eq!(app.send(to(host, get("/tools"))).await.status, 200, "{host}");
    }
    let foreign =
        ["evil.example", "localhost.evil.example", "192.168.0.1", "localhost:port", ":80", "", "[::1"];
    for host in foreign {
        for request in [get("/tools"), modern("tools/list", &json!({}))] {
            let answer = app.send(to(host, request)).await;
            assert!(is_forbidden(&answer), "{host}: {answer:?}");
        }
    }
    app.stop().await;
}
