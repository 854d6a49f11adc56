//! Calls: results, notifications, cancellation and timeouts.

use std::sync::Arc;

use lyceum_tools::Hub;
use serde_json::{Value, json};

use crate::app::{Older, Settings, TestApp, Waiting, call, hub, modern, post, spec, tool, waiting};

fn with_progress(name: &str) -> Value {
    json!({ "name": name, "arguments": {}, "_meta": { "progressToken": "abc" } })
}

#[tokio::test]
async fn a_structured_answer_comes_with_its_text() {
    let app = TestApp::start().await;
    let answer = app.send(call("add", &json!({ "a": 2, "b": 3 }))).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let server = r#".result._meta["io.modelcontextprotocol/serverInfo"].version"#;
    insta::assert_json_snapshot!(answer.json(), { server => "[version]" }, @r#"
    {
      "id": 1,
      "jsonrpc": "2.0",
      "result": {
        "_meta": {
          "io.modelcontextprotocol/serverInfo": {
            "name": "lyceum",
            "version": "[version]"
          }
        },
        "content": [
          {
            "text": "{\"sum\":5}",
            "type": "text"
          }
        ],
        "isError": false,
        "resultType": "complete",
        "structuredContent": {
          "sum": 5
        }
      }
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn progress_streams_before_the_answer() {
    let app = TestApp::start().await;
    let answer = app.send(modern("tools/call", &with_progress("test_tool_with_progress"))).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), "no");
    let events = answer.events();
    let progress: Vec<&Value> = events.iter().map(|event| &event["params"]["progress"]).collect();
    assert_eq!(progress, [&json!(0.0), &json!(50.0), &json!(100.0), &Value::Null]);
    assert!(events[..3].iter().all(|event| event["params"]["progressToken"] == "abc"));
    assert_eq!(events[3]["result"]["content"][0]["text"], "Progress reported");
    app.stop().await;
}

#[tokio::test]
async fn a_tool_that_takes_its_time_and_reports_nothing_answers_all_the_same() {
    let quiet = tool(spec("quiet"), |_| async {
        tokio::task::yield_now().await;
        Ok("done".to_owned())
    });
    let app = TestApp::with(hub([quiet]), Settings::default()).await;
    let answer = app.send(modern("tools/call", &with_progress("quiet"))).await;
    assert_eq!(answer.result()["content"][0]["text"], "done");
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_takes_no_stream_gets_the_answer_alone() {
    let app = TestApp::start().await;
    let mut request = modern("tools/call", &with_progress("test_tool_with_progress"));
    request.headers_mut().insert("accept", "application/json".parse().unwrap());
    let answer = app.send(request).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.json()["result"]["content"][0]["text"], "Progress reported");
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_takes_only_streams_gets_one() {
    let app = TestApp::start().await;
    let mut request = call("add", &json!({ "a": 2, "b": 3 }));
    request.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let answer = app.send(request).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream"));
    assert_eq!(answer.result()["structuredContent"]["sum"], 5);
    app.stop().await;
}

#[tokio::test]
async fn log_messages_come_only_when_asked_for() {
    let app = TestApp::start().await;
    for (level, count) in [(json!("debug"), 2), (json!("info"), 2), (json!("error"), 1)] {
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        let params = json!({ "name": "test_logging_tool", "arguments": {}, "_meta": meta });
        let mut request = modern("tools/call", &params);
        request.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
        assert_eq!(app.send(request).await.events().len(), count, "{level}");
    }
    assert_eq!(
        app.send(call("test_logging_tool", &json!({}))).await.header("content-type"),
        "application/json"
    );
    app.stop().await;
}

fn one(name: &str) -> (Arc<Hub>, Waiting) {
    let (tool, waiting) = waiting(name);
    (hub([tool]), waiting)
}

#[tokio::test]
async fn a_client_that_hangs_up_ends_its_call() {
    let (hub, mut tool) = one("wait");
    let app = TestApp::with(hub, Settings::default()).await;
    for request in [call("wait", &json!({})), post("/tools/wait/call", "{}")] {
        tokio::select! {
            answer = app.send(request) => panic!("{answer:?}"),
            () = tool.began() => {}
        }
        tool.dropped().await;
    }
    let mut stream = app.open(modern("tools/call", &with_progress("wait"))).await;
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/progress");
    tool.began().await;
    drop(stream);
    tool.dropped().await;
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn an_older_client_that_says_so_ends_its_call() {
    let (hub, mut tool) = one("wait");
    let app = TestApp::with(hub, Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let under_way = app.open(session.call("wait", &json!({}))).await;
    tool.began().await;
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(app.send(session.message(&cancelled)).await.status, 202);
    tool.dropped().await;
    drop(under_way);
    app.stop().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_a_timeout() {
    let (hub, mut tool) = one("wait");
    let app = TestApp::with(hub, Settings::limits("call_seconds = 1")).await;
    let session = Older::open(&app, "2025-11-25").await;
    for request in [
        call("wait", &json!({})),
        modern("tools/call", &with_progress("wait")),
        session.call("wait", &json!({})),
    ] {
        let message = app.send(request).await.message();
        assert_eq!(message["error"]["code"], 5040, "{message}");
        assert_eq!(message["error"]["data"]["error_code"], "TIMEOUT");
        tool.began().await;
        tool.dropped().await;
    }
    let answer = app.send(post("/tools/wait/call", "{}")).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (504, &json!("TIMEOUT")));
    app.serves_others().await;
    app.stop().await;
}
