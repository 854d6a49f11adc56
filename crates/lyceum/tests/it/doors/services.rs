//! The endpoint of one service.

use std::sync::Arc;

use lyceum_model::{Access, Domain};
use lyceum_tools::{Hub, ToolEntry, ToolSpec};
use serde_json::json;

use crate::app::{Older, Request, Settings, TestApp, call, hub, modern, spec, tool};

/// Two services with a tool each.
fn two() -> Arc<Hub> {
    let of = |name: &str, domain: Domain| -> ToolEntry {
        let spec = ToolSpec { access: Access::public(domain), ..spec(name) };
        tool(spec, |_| async { Ok("done".to_owned()) })
    };
    hub([of("read", Domain::from_static("kb")), of("match", Domain::from_static("skills"))])
}

fn at(path: &str, mut request: Request) -> Request {
    *request.uri_mut() = path.parse().unwrap();
    request
}

async fn check_listed(app: &TestApp, path: &str, names: &[&str]) {
    let result = app.send(at(path, modern("tools/list", &json!({})))).await.result();
    let found: Vec<&str> =
        result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(found, names, "{path}");
}

#[tokio::test]
async fn a_service_alone_has_its_own_tools_only() {
    let app = TestApp::with(two(), Settings::default()).await;
    check_listed(&app, "/mcp", &["match", "read"]).await;
    check_listed(&app, "/kb/mcp", &["read"]).await;
    check_listed(&app, "/skills/mcp", &["match"]).await;
    assert_eq!(app.send(at("/kb/mcp", call("read", &json!({})))).await.status, 200);
    let other = app.send(at("/kb/mcp", call("match", &json!({})))).await.message();
    assert_eq!(other["error"]["data"]["error_code"], "TOOL_NOT_FOUND");
    app.stop().await;
}

#[tokio::test]
async fn an_older_session_at_a_service_has_its_own_tools_only() {
    let app = TestApp::with(two(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let listed = app.send(at("/kb/mcp", session.request("tools/list", &json!({})))).await.result();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 1);
    let other = app.send(at("/kb/mcp", session.call("match", &json!({})))).await.message();
    assert_eq!(other["error"]["data"]["error_code"], "TOOL_NOT_FOUND");
    app.stop().await;
}

#[tokio::test]
async fn an_unknown_service_is_not_found() {
    let app = TestApp::with(two(), Settings::default()).await;
    for path in ["/nothing/mcp", "/KB/mcp", "/..%2fkb/mcp"] {
        let answer = app.send(at(path, modern("tools/list", &json!({})))).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json()["error"]["data"]["error_code"], "NOT_FOUND", "{path}");
    }
    app.stop().await;
}
