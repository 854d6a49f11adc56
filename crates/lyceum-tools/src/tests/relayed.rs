//! Results of upstream servers: every member keeps its bytes.

use serde_json::{json, value::RawValue};

use super::{Client, SHELF, object, spec};
use crate::{Outcome, Registry, RelayedResult, ToolEntry, ToolResult, mcp::Reply};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// A registry with a tool that relays that result.
fn relaying(result: &str) -> Registry {
    let result = RelayedResult::new(&raw(result)).unwrap();
    let tool = ToolEntry::relayed(spec("relay"), move |_, _| {
        let result = result.clone();
        async move { Ok(Outcome::Done(ToolResult::Relayed(result))) }
    });
    Registry::builder().tool_entry(tool.unwrap()).unwrap().build()
}

#[tokio::test]
async fn a_relayed_result_keeps_its_bytes_and_gets_our_server_info() {
    let members = r#""z":{"b":1.0,"a":[1e2,12345678901234567890123]},"content":[{"type":"new","x":1}]"#;
    let theirs = r#""_meta":{"theirs":7,"io.modelcontextprotocol/serverInfo":{"name":"upstream"}}"#;
    let client = Client::of(relaying(&format!("{{{members},{theirs}}}")));
    let Reply::One(message) = client.reply("tools/call", json!({ "name": "relay" })).await else { panic!() };
    let message = String::from_utf8(client.mcp.encode(*message)).unwrap();
    assert!(message.contains(members), "{message}");
    let result = &serde_json::from_str::<serde_json::Value>(&message).unwrap()["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["theirs"], 7);
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "lyceum");
}

#[test]
fn only_what_every_client_relies_on_is_checked() {
    for wrong in ["[]", "7", r#"{"content":{}}"#, r#"{"content":[],"isError":"no"}"#] {
        assert!(RelayedResult::new(&raw(wrong)).is_err(), "{wrong}");
    }
    let without_content = RelayedResult::new(&raw(r#"{"structuredContent":{"a":1}}"#)).unwrap();
    assert_eq!(
        serde_json::to_string(&without_content).unwrap(),
        r#"{"structuredContent":{"a":1},"content":[]}"#
    );
    assert_eq!(without_content.structured_content(), Some(json!({ "a": 1 })));
    assert!(RelayedResult::new(&raw(r#"{"content":[],"isError":true}"#)).unwrap().is_error());
}

#[tokio::test]
async fn an_unlisted_tool_can_be_called() {
    let tool = ToolEntry::new(spec("hidden"), |_, _| async {
        Ok(Outcome::Done(crate::mcp::CallToolResult::structured(json!({ "here": true }))))
    });
    let registry = Registry::builder().tool_entry(tool.unwrap().unlisted()).unwrap().build();
    let view = Client::of(registry).view();
    assert_eq!(view.tools().count(), 0);
    assert!(view.call("hidden", object(json!({})), Default::default()).await.is_ok());
}

#[test]
fn a_declared_service_has_an_endpoint_without_entries() {
    let empty = std::sync::Arc::new(Registry::builder().service(&SHELF).build());
    assert_eq!(Registry::join([&empty]).unwrap().service("shelf"), Some(&SHELF));
}
