//! Notifications on the stream of a session, and resuming a lost stream.

use lyceum_tools::{Change, LogLevel};
use serde_json::json;

use crate::app::{Older, Settings, TestApp, call, fixture, hub, spec, tool, waiting};

#[tokio::test]
async fn a_session_is_told_of_lists_that_change() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-06-18").await;
    let mut stream = app.open(session.stream()).await;
    for (trigger, method) in [
        ("test_trigger_tool_change", "notifications/tools/list_changed"),
        ("test_trigger_prompt_change", "notifications/prompts/list_changed"),
    ] {
        app.send(call(trigger, &json!({}))).await;
        assert_eq!(stream.event().await.unwrap()["method"], method);
    }
    app.stop().await;
}

#[tokio::test]
async fn a_session_is_told_of_the_resources_it_subscribed_to() {
    let hub = fixture();
    let app = TestApp::with(hub.clone(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let mut stream = app.open(session.stream()).await;
    let watched = json!({ "uri": "test://watched-resource" });
    assert_eq!(app.send(session.request("resources/subscribe", &watched)).await.result(), json!({}));
    hub.announce(Change::Resource("test://static-text".to_owned()));
    hub.announce(Change::Resource("test://watched-resource".to_owned()));
    let told = stream.event().await.unwrap();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "test://watched-resource");
    assert_eq!(app.send(session.request("resources/unsubscribe", &watched)).await.result(), json!({}));
    hub.announce(Change::Resource("test://watched-resource".to_owned()));
    hub.announce(Change::Tools);
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/tools/list_changed");
    app.stop().await;
}

#[tokio::test]
async fn a_call_goes_on_when_its_stream_is_lost_and_the_answer_can_be_fetched() {
    let (tool, mut waiting) = waiting("wait");
    let app = TestApp::with(hub([tool]), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let lost = app.open(session.call("wait", &json!({}))).await;
    waiting.began().await;
    drop(lost);
    let mut resumed = app.open(session.resume("0/0")).await;
    assert_eq!(resumed.status, 200);
    waiting.let_go();
    assert_eq!(resumed.event().await.unwrap()["result"]["content"][0]["text"], "let go");
    app.stop().await;
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_the_call() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let params = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "abc" } });
    let events = app.send(session.request("tools/call", &params)).await.events();
    assert!(events[..3].iter().all(|event| event["params"]["progressToken"] == "abc"), "{events:?}");
    assert_eq!(events[3]["result"]["content"][0]["text"], "Progress reported");
    app.stop().await;
}

#[tokio::test]
async fn log_messages_come_on_the_stream_of_the_session_from_the_level_it_set() {
    let hub = fixture();
    let app = TestApp::with(hub.clone(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let mut stream = app.open(session.stream()).await;
    app.send(session.call("test_logging_tool", &json!({}))).await;
    let logged = stream.event().await.unwrap();
    assert_eq!(
        (&logged["method"], &logged["params"]["level"]),
        (&json!("notifications/message"), &json!("info"))
    );
    let quieter = session.request("logging/setLevel", &json!({ "level": "error" }));
    assert_eq!(app.send(quieter).await.result(), json!({}));
    app.send(session.call("test_logging_tool", &json!({}))).await;
    hub.announce(Change::Tools);
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/tools/list_changed");
    app.stop().await;
}

#[tokio::test]
async fn messages_that_nobody_reads_do_not_hold_a_session_up() {
    let talkative = tool(spec("talk"), |call| async move {
        for number in 0..500 {
            call.log(LogLevel::Error, &format!("message {number}"));
            tokio::task::yield_now().await;
        }
        Ok("done".to_owned())
    });
    let app = TestApp::with(hub([talkative]), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    assert_eq!(app.send(session.call("talk", &json!({}))).await.result()["content"][0]["text"], "done");
    assert_eq!(app.send(session.request("ping", &json!({}))).await.result(), json!({}));
    app.stop().await;
}
