//! Everything around a message: mirrored headers, versions, methods, paths, hosts.

use http::{HeaderName, Method};
use serde_json::{Value, json};

use super::check;
use crate::app::{MODERN, Older, Request, TestApp, call, get, message, modern, post};

const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;
const INVALID_REQUEST: i64 = -32600;
const INVALID_PARAMS: i64 = -32602;
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn with(mut request: Request, header: &'static str, value: &str) -> Request {
    request.headers_mut().insert(HeaderName::from_static(header), value.parse().unwrap());
    request
}

fn without(mut request: Request, header: &'static str) -> Request {
    request.headers_mut().remove(header).unwrap();
    request
}

fn twice(mut request: Request, header: &'static str) -> Request {
    let value = request.headers()[header].clone();
    request.headers_mut().append(HeaderName::from_static(header), value);
    request
}

#[tokio::test]
async fn an_unsupported_version_is_told_which_are_supported() {
    let app = TestApp::start().await;
    for version in ["2099-01-01", "1999-01-01", "nonsense", ""] {
        let request = modern("tools/list", &json!({ "_meta": { VERSION: version } }));
        let request = with(request, "mcp-protocol-version", version);
        let refusal = check(&app, request, 400, UNSUPPORTED_VERSION).await;
        let data = &refusal["error"]["data"];
        assert_eq!(data["supported"], json!([MODERN, "2025-11-25", "2025-06-18", "2025-03-26"]));
        assert_eq!(data["requested"], version);
    }
    app.stop().await;
}

#[tokio::test]
async fn a_header_that_is_missing_or_contradicts_the_body_is_a_mismatch() {
    let app = TestApp::start().await;
    let add = || call("add", &json!({ "a": 1, "b": 2 }));
    let requests = [
        without(add(), "mcp-protocol-version"),
        without(add(), "mcp-method"),
        without(add(), "mcp-name"),
        with(add(), "mcp-protocol-version", "2099-01-01"),
        with(add(), "mcp-protocol-version", "2025-11-25"),
        with(add(), "mcp-method", "tools/list"),
        with(add(), "mcp-method", "Tools/Call"),
        with(add(), "mcp-name", "test_simple_text"),
        with(add(), "mcp-name", "=?base64?!!!?="),
        with(add(), "mcp-name", "=?base64?YWRkZWQ=?="),
        twice(add(), "mcp-protocol-version"),
        twice(add(), "mcp-method"),
        twice(add(), "mcp-name"),
        without(modern("resources/read", &json!({ "uri": "test://static-text" })), "mcp-name"),
        without(modern("prompts/get", &json!({ "name": "test_simple_prompt" })), "mcp-name"),
    ];
    for request in requests {
        let refusal = check(&app, request, 400, HEADER_MISMATCH).await;
        assert_eq!(refusal["id"], 1);
    }
    let encoded = app.send(with(add(), "mcp-name", "=?base64?YWRk?=")).await;
    assert_eq!(encoded.result()["structuredContent"]["sum"], 3);
    app.stop().await;
}

#[tokio::test]
async fn an_argument_is_repeated_in_its_header() {
    let app = TestApp::start().await;
    let sent = || call("test_x_mcp_header", &json!({ "region": "eu" }));
    check(&app, sent(), 400, HEADER_MISMATCH).await;
    check(&app, with(sent(), "mcp-param-region", "us"), 400, HEADER_MISMATCH).await;
    let absent = call("test_x_mcp_header", &json!({}));
    check(&app, with(absent, "mcp-param-region", "eu"), 400, HEADER_MISMATCH).await;
    assert_eq!(app.send(with(sent(), "mcp-param-region", "eu")).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn a_modern_request_without_its_meta_is_invalid() {
    let app = TestApp::start().await;
    let bare = |params: Value| {
        let request = post("/mcp", message("tools/list", &params).to_string());
        with(with(request, "mcp-protocol-version", MODERN), "mcp-method", "tools/list")
    };
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    check(&app, bare(json!({})), 400, INVALID_PARAMS).await;
    check(&app, bare(json!({ "_meta": {} })), 400, INVALID_PARAMS).await;
    check(&app, bare(json!({ "_meta": { VERSION: MODERN } })), 400, INVALID_PARAMS).await;
    check(&app, bare(json!({ "_meta": { capabilities: {} } })), 400, INVALID_PARAMS).await;
    app.stop().await;
}

#[tokio::test]
async fn a_request_of_neither_era_is_told_how_to_begin() {
    let app = TestApp::start().await;
    let request = post("/mcp", message("tools/list", &json!({})).to_string());
    let refusal = check(&app, request, 400, INVALID_REQUEST).await;
    assert!(refusal["error"]["message"].as_str().unwrap().contains("initialize"));
    assert_eq!(refusal["id"], 1);
    app.stop().await;
}

#[tokio::test]
async fn another_content_type_is_unsupported() {
    let app = TestApp::start().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "text/json"] {
        let request = with(modern("tools/list", &json!({})), "content-type", kind);
        check(&app, request, 415, INVALID_REQUEST).await;
    }
    check(&app, without(modern("tools/list", &json!({})), "content-type"), 415, INVALID_REQUEST).await;
    let session = Older::open(&app, "2025-11-25").await;
    let request = with(session.request("tools/list", &json!({})), "content-type", "text/plain");
    check(&app, request, 415, INVALID_REQUEST).await;
    let spelled = with(modern("tools/list", &json!({})), "content-type", "Application/JSON; charset=utf-8");
    assert_eq!(app.send(spelled).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn a_method_without_a_session_is_not_allowed() {
    let app = TestApp::start().await;
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
        let mut request = get("/mcp");
        *request.method_mut() = method;
        let answer = app.send(request).await;
        assert_eq!((answer.status, answer.header("allow")), (405, "POST"));
        assert_eq!(answer.json()["error"]["data"]["error_code"], "METHOD_NOT_ALLOWED");
    }
    let answer = app.send(post("/tools", "{}")).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (405, &json!("METHOD_NOT_ALLOWED")));
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let app = TestApp::start().await;
    for path in ["/nothing", "/mcp/nothing", "/tools/", "/tools/add", "/..%2f..%2fetc/passwd"] {
        let answer = app.send(get(path)).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("NOT_FOUND")), "{path}");
    }
    let answer = app.send(post("/nothing/mcp", "{}")).await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["error"]["data"]["error_code"], "NOT_FOUND");
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_host_is_named_once() {
    let app = TestApp::start().await;
    let request = |hosts: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\n{hosts}Content-Type: application/json\r\nContent-Length: 2\r\n\
             Connection: close\r\n\r\n{{}}"
        )
    };
    for hosts in ["Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nHost: evil.example\r\n", ""] {
        let answer = app.raw(request(hosts).as_bytes()).await;
        let message = answer.json();
        assert_eq!((answer.status, &message["error"]["code"]), (400, &json!(INVALID_PARAMS)), "{hosts:?}");
        assert_eq!(message["error"]["data"]["error_code"], "VALIDATION_ERROR");
    }
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn bytes_that_are_not_http_are_a_bad_request() {
    let app = TestApp::start().await;
    for bytes in
        ["nonsense\r\n\r\n", "GET\r\n\r\n", "GET /\u{0} HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n"]
    {
        assert_eq!(app.raw(bytes.as_bytes()).await.status, 400, "{bytes:?}");
    }
    app.serves_others().await;
    app.stop().await;
}
