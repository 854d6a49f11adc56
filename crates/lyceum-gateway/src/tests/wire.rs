//! What goes over the wire: content types, ids, progress, protocol versions.

use lyceum_testkit::UpstreamEra;
use lyceum_tools::{
    CallContext, Notices,
    mcp::{Notice, ProgressToken},
};
use serde_json::json;

use super::{Bench, object};

#[tokio::test]
async fn complaint_13_content_types_are_not_trusted() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    for content_type in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "text/event-stream",
        "text/event-stream; charset=UTF-8",
        "text/plain",
        "",
        "text/html",
    ] {
        for as_events in [true, false] {
            bench.server.respond_as(content_type, as_events);
            let result = bench.result("docs_echo", json!({ "text": "x" })).await;
            assert!(
                result.contains("\"structuredContent\":{\"text\":\"x\"}"),
                "{content_type} {as_events}: {result}"
            );
        }
    }
}

#[tokio::test]
async fn complaint_6_ids_and_progress_tokens_are_our_own() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    bench.server.respond_as("text/event-stream", true);
    let token = serde_json::from_value::<ProgressToken>(json!("token-of-the-caller")).unwrap();
    let (notices, receiver) = Notices::requested(Some(token), None);
    let context = CallContext { notices, ..CallContext::default() };
    bench.view().call("docs_echo", object(json!({ "text": "x" })), context).await.unwrap();
    let relayed: Notice = receiver.unwrap().try_recv().unwrap();
    let relayed = serde_json::to_value(relayed.into_notification()).unwrap();
    assert_eq!(relayed["params"]["progressToken"], "token-of-the-caller");
    assert_eq!(relayed["params"]["message"], "half");
    let sent = bench.server.requests_of("tools/call").pop().unwrap();
    assert_eq!(sent.body["params"]["_meta"]["progressToken"], sent.body["id"]);
    assert!(!sent.body.to_string().contains("token-of-the-caller"));

    bench.result("docs_echo", json!({ "text": "x" })).await;
    let sent = bench.server.requests_of("tools/call").pop().unwrap();
    assert!(sent.body["params"]["_meta"].get("progressToken").is_none(), "not requested, not sent");
}

#[tokio::test]
async fn an_earlier_version_gets_a_session_and_no_meta() {
    let bench = Bench::start(UpstreamEra::Legacy).await;
    bench.result("docs_echo", json!({ "text": "x" })).await;
    let methods: Vec<String> =
        bench.server.requests().iter().map(|one| one.body["method"].to_string()).collect();
    let expected = ["server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call"];
    assert_eq!(methods, expected.map(|method| format!("\"{method}\"")));
    let call = bench.server.requests().pop().unwrap();
    assert_eq!(call.headers["mcp-protocol-version"], "2025-11-25");
    assert_eq!(call.headers["mcp-session-id"], "session-0");
    assert!(call.body["params"].get("_meta").is_none());
}

#[tokio::test]
async fn arguments_marked_in_the_schema_are_repeated_in_headers() {
    let bench = Bench::start(UpstreamEra::Modern).await;
    let text = json!({ "type": "string", "x-mcp-header": "Region" });
    bench.server.set_tools(json!([
        { "name": "where", "inputSchema": { "type": "object", "properties": { "region": text } } },
    ]));
    bench.upstream.refresh().await;
    bench.result("docs_where", json!({ "region": "eu" })).await;
    let sent = bench.server.requests().pop().unwrap();
    assert_eq!(sent.headers["mcp-param-region"], "eu");
    bench.result("docs_where", json!({ "region": "köln" })).await;
    let sent = bench.server.requests().pop().unwrap();
    assert_eq!(sent.headers["mcp-param-region"], "=?base64?a8O2bG4=?=");
}
