//! Anonymous clients that open sessions without end: their cost is limited, and nobody else loses a session.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use super::check_goes_on;
use crate::app::{Older, Request, Response, Settings, TestApp, call, fixture, get, message, post, within};

fn files(data: &Path) -> usize {
    std::fs::read_dir(data.join("sessions")).map_or(0, Iterator::count)
}

/// `initialize` with large client information.
fn large_handshake() -> Request {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "x".repeat(15_000), "version": "1" },
    });
    post("/mcp", message("initialize", &params).to_string())
}

/// P3a: each `notifications/initialized` started another notification task.
#[tokio::test]
async fn s3a_one_task_tells_of_changes_however_often_a_client_is_initialized() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for _ in 0..50 {
        assert_eq!(app.send(session.message(&initialized)).await.status, 202);
    }
    let mut stream = app.open(session.stream()).await;
    app.send(call("test_trigger_tool_change", &json!({}))).await;
    app.send(call("test_trigger_prompt_change", &json!({}))).await;
    let mut told: Vec<Value> = Vec::new();
    while told.last().is_none_or(|last| *last != "notifications/prompts/list_changed") {
        told.push(stream.event().await.unwrap()["method"].clone());
    }
    assert_eq!(told, ["notifications/tools/list_changed", "notifications/prompts/list_changed"]);
    app.stop().await;
}

/// P3b: each anonymous `initialize` wrote a file of up to 16 KiB.
#[tokio::test]
async fn s3b_a_handshake_alone_costs_no_file() {
    let folder = tempdir().unwrap();
    let app = TestApp::at(folder.path(), fixture(), Settings::limits("sessions = 5")).await;
    let session = Older::open(&app, "2025-11-25").await;
    for _ in 0..100 {
        assert_eq!(app.send(large_handshake()).await.status, 200);
    }
    assert_eq!(files(folder.path()), 1, "only the session that was used after its handshake");
    check_goes_on(&app, &session).await;
    app.stop().await;
}

/// P3b: files were only counted once an hour.
#[tokio::test]
async fn s3b_there_are_never_more_files_than_the_cap() {
    let folder = tempdir().unwrap();
    let app = TestApp::at(folder.path(), fixture(), Settings::limits("sessions = 2")).await;
    for number in 0..60 {
        let session = Older::open(&app, "2025-11-25").await;
        check_goes_on(&app, &session).await;
        // Ten for each slot in memory.
        assert!(files(folder.path()) <= 20, "after {number}: {}", files(folder.path()));
    }
    app.stop().await;
    // A server that starts with more than that keeps the newest.
    let app = TestApp::at(folder.path(), fixture(), Settings::limits("sessions = 1")).await;
    let swept = async {
        while files(folder.path()) > 10 {
            tokio::task::yield_now().await;
        }
    };
    within("old sessions are removed", swept).await;
    app.stop().await;
}

/// S3b: `initialize` had no rate limit.
#[tokio::test]
async fn s3b_opening_sessions_is_limited_by_client_address() {
    let server = "trusted_proxies = [\"127.0.0.1\"]";
    let app = TestApp::with(fixture(), Settings { server, limits: "sessions = 2" }).await;
    let from = async |address: &str| -> Response {
        let mut request = Older::initialize("2025-11-25", &json!({}));
        request.headers_mut().insert("x-forwarded-for", address.parse().unwrap());
        app.send(request).await
    };
    let mut refused = None;
    for _ in 0..2_000 {
        let answer = from("192.0.2.1").await;
        if answer.status != 200 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.unwrap();
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(refused.json()["error"]["data"]["error_code"], "RATE_LIMITED");
    assert!(!refused.header("retry-after").is_empty());
    assert_eq!(from("192.0.2.2").await.status, 200, "others are not slowed down");
    assert_eq!(app.send(get("/livez")).await.status, 200);
    app.stop().await;
}
