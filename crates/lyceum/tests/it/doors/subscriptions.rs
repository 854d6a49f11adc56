//! `subscriptions/listen`: acknowledgement, notifications, graceful end.

use serde_json::{Value, json};

use crate::app::{Request, Settings, TestApp, call, fixture, hub, modern, registry, spec, tool};

fn listen(notifications: &Value) -> Request {
    modern("subscriptions/listen", &json!({ "notifications": notifications }))
}

#[tokio::test]
async fn a_listener_is_told_of_what_it_asked_for_until_the_server_stops() {
    let hub = hub([]);
    let app = TestApp::with(hub.clone(), Settings::default()).await;
    let mut stream = app.open(listen(&json!({ "toolsListChanged": true }))).await;
    assert_eq!(stream.status, 200);
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    insta::assert_json_snapshot!(stream.event().await, @r#"
    {
      "jsonrpc": "2.0",
      "method": "notifications/subscriptions/acknowledged",
      "params": {
        "_meta": {
          "io.modelcontextprotocol/subscriptionId": 1
        },
        "notifications": {
          "toolsListChanged": true
        }
      }
    }
    "#);
    hub.publish(registry([tool(spec("new"), |_| async { Ok(String::new()) })]));
    insta::assert_json_snapshot!(stream.event().await, @r#"
    {
      "jsonrpc": "2.0",
      "method": "notifications/tools/list_changed",
      "params": {
        "_meta": {
          "io.modelcontextprotocol/subscriptionId": 1
        }
      }
    }
    "#);
    app.begin_stop();
    let server = r#".result._meta["io.modelcontextprotocol/serverInfo"].version"#;
    insta::assert_json_snapshot!(stream.event().await, { server => "[version]" }, @r#"
    {
      "id": 1,
      "jsonrpc": "2.0",
      "result": {
        "_meta": {
          "io.modelcontextprotocol/subscriptionId": 1
        },
        "resultType": "complete"
      }
    }
    "#);
    assert_eq!(stream.event().await, None);
    app.stop().await;
}

#[tokio::test]
async fn a_listener_is_not_told_of_what_it_did_not_ask_for() {
    let app = TestApp::with(fixture(), Settings::default()).await;
    let mut stream = app.open(listen(&json!({ "promptsListChanged": true }))).await;
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    app.send(call("test_trigger_tool_change", &json!({}))).await;
    app.send(call("test_trigger_prompt_change", &json!({}))).await;
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/prompts/list_changed");
    app.stop().await;
}

#[tokio::test]
async fn each_of_many_listeners_is_told() {
    let hub = hub([]);
    let app = TestApp::with(hub.clone(), Settings::default()).await;
    let mut streams = Vec::new();
    for _ in 0..50 {
        let mut stream = app.open(listen(&json!({ "toolsListChanged": true }))).await;
        stream.event().await.unwrap();
        streams.push(stream);
    }
    hub.publish(registry([tool(spec("new"), |_| async { Ok(String::new()) })]));
    for stream in &mut streams {
        assert_eq!(stream.event().await.unwrap()["method"], "notifications/tools/list_changed");
    }
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_takes_no_stream_can_not_listen() {
    let app = TestApp::start().await;
    let mut request = listen(&json!({ "toolsListChanged": true }));
    request.headers_mut().insert("accept", "application/json".parse().unwrap());
    assert_eq!(app.send(request).await.status, 406);
    app.stop().await;
}
