//! Health, readiness and metrics.

use serde_json::json;

use crate::app::{Older, Request, Settings, TestApp, call, get, modern};

#[tokio::test]
async fn a_server_that_serves_is_alive_ready_and_healthy() {
    let settings = Settings::server(
        "public_url = \"https://lyceum.example\"\n[[source]]\nname = \"kb\"\npath = \"./kb\"",
    );
    let app = TestApp::product(settings).await;
    let live = app.send(get("/livez")).await;
    assert_eq!((live.status, live.text()), (200, "ok\n"));
    let ready = app.send(get("/readyz")).await;
    assert_eq!((ready.status, ready.json()), (200, json!({ "ready": true, "reasons": [] })));
    let health = app.send(get("/health")).await;
    assert_eq!(health.status, 200);
    insta::assert_json_snapshot!(health.json(), { ".timestamp" => "[time]" }, @r#"
    {
      "services": {
        "server": "ok"
      },
      "sources": [
        {
          "commit": null,
          "name": "kb",
          "state": "pending",
          "synced_at": null
        }
      ],
      "status": "ok",
      "timestamp": "[time]"
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn the_first_page_says_how_to_connect() {
    let app = TestApp::product(Settings::server("public_url = \"https://lyceum.example\"")).await;
    let page = app.send(get("/")).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("https://lyceum.example/mcp"), "{}", page.text());
    app.stop().await;
}

/// Checks that the metrics count that many operations with those labels.
async fn check_counted(app: &TestApp, labels: &str, count: u32) {
    let metrics = app.send(get("/metrics")).await;
    assert!(metrics.header("content-type").starts_with("application/openmetrics-text"));
    let line = format!("mcp_server_operation_duration_seconds_count{{{labels}}} {count}");
    assert!(metrics.text().lines().any(|found| found == line), "no line {line} in\n{}", metrics.text());
    assert!(metrics.text().ends_with("# EOF\n"));
}

#[tokio::test]
async fn a_call_is_counted_by_tool_and_outcome() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let labels = |tool: &str, error: &str| {
        format!("mcp_method_name=\"tools/call\",gen_ai_tool_name=\"{tool}\",error_type=\"{error}\"")
    };
    app.send(call("add", &json!({ "a": 1, "b": 2 }))).await;
    check_counted(&app, &labels("add", ""), 1).await;
    app.send(session.call("add", &json!({ "a": 1, "b": 2 }))).await;
    check_counted(&app, &labels("add", ""), 2).await;
    app.send(call("test_error_handling", &json!({}))).await;
    app.send(session.call("test_error_handling", &json!({}))).await;
    check_counted(&app, &labels("test_error_handling", "tool_error"), 2).await;
    app.send(call("nothing", &json!({}))).await;
    check_counted(&app, &labels("", "protocol_error"), 1).await;
    let progress = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": 1 } });
    app.send(modern("tools/call", &progress)).await;
    check_counted(&app, &labels("test_tool_with_progress", ""), 1).await;
    app.stop().await;
}

#[tokio::test]
async fn strangers_make_no_labels() {
    let app = TestApp::start().await;
    app.send(get("/stranger")).await;
    app.send(call("stranger", &json!({}))).await;
    app.send(modern("stranger", &json!({}))).await;
    app.send(crate::app::post("/stranger/mcp", "{}")).await;
    let metrics = app.send(get("/metrics")).await;
    assert!(!metrics.text().contains("stranger"), "{}", metrics.text());
    app.stop().await;
}

fn with_id(id: &[u8]) -> Request {
    let mut request = get("/livez");
    request.headers_mut().insert("x-request-id", http::HeaderValue::from_bytes(id).unwrap());
    request
}

#[tokio::test]
async fn a_request_id_is_kept_when_it_is_safe_and_replaced_when_it_is_not() {
    let app = TestApp::start().await;
    let longest = "x".repeat(128);
    for safe in ["a", "7f3c-12", "trace/1:2.3_4+5=6@7", &longest] {
        assert_eq!(app.send(with_id(safe.as_bytes())).await.header("x-request-id"), safe);
    }
    let too_long = "x".repeat(129);
    let unsafe_ids: [&[u8]; 5] = [b"", b"two words", b"<script>", b"\xff\xfe", too_long.as_bytes()];
    let mut made = std::collections::BTreeSet::new();
    for id in unsafe_ids {
        let answer = app.send(with_id(id)).await;
        let id_made = answer.header("x-request-id");
        assert!(id_made.len() == 17 && id_made.as_bytes() != id, "{id_made}");
        made.insert(id_made.to_owned());
    }
    made.insert(app.send(get("/livez")).await.header("x-request-id").to_owned());
    made.insert(app.send(get("/nothing")).await.header("x-request-id").to_owned());
    assert_eq!(made.len(), 7, "each request has an id of its own");
    app.stop().await;
}
