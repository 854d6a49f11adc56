//! A session lives until its client ends it: clients don't notice idleness or restarts.

use futures::future::join_all;
use serde_json::json;
use tempfile::tempdir;

use super::{check_goes_on, check_is_over};
use crate::app::{Older, Settings, TestApp, call, fixture};

#[tokio::test]
async fn a_session_goes_on_after_a_restart() {
    let folder = tempdir().unwrap();
    let first = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let mut sessions = Vec::new();
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        sessions.push(Older::open(&first, version).await);
    }
    first.stop().await;
    let second = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    for session in &sessions {
        check_goes_on(&second, session).await;
    }
    second.stop().await;
}

#[tokio::test]
async fn a_stream_opened_after_a_restart_tells_of_changes() {
    let folder = tempdir().unwrap();
    let first = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let session = Older::open(&first, "2025-11-25").await;
    first.stop().await;
    let second = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let mut stream = second.open(session.stream()).await;
    assert_eq!(stream.status, 200);
    second.send(call("test_trigger_tool_change", &json!({}))).await;
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/tools/list_changed");
    second.stop().await;
}

#[tokio::test]
async fn requests_at_once_after_a_restart_all_go_on() {
    let folder = tempdir().unwrap();
    let first = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let session = Older::open(&first, "2025-11-25").await;
    first.stop().await;
    let second = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let calls = (0..8).map(|id| {
        let params = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
        second.send(
            session.message(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })),
        )
    });
    for (id, answer) in join_all(calls).await.iter().enumerate() {
        assert_eq!(answer.message()["id"], id);
        assert_eq!(answer.result()["structuredContent"]["sum"], 5);
    }
    second.stop().await;
}

#[tokio::test]
async fn a_session_that_was_ended_is_over_also_after_a_restart() {
    let folder = tempdir().unwrap();
    let first = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let (ended, kept) = (Older::open(&first, "2025-11-25").await, Older::open(&first, "2025-11-25").await);
    assert_eq!(first.send(ended.end()).await.status, 204);
    check_is_over(&first, &ended).await;
    first.stop().await;
    let second = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    check_is_over(&second, &ended).await;
    check_goes_on(&second, &kept).await;
    second.stop().await;
}

#[tokio::test]
async fn a_session_ended_after_a_restart_is_over() {
    let folder = tempdir().unwrap();
    let first = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let session = Older::open(&first, "2025-11-25").await;
    first.stop().await;
    let second = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    assert!(second.send(session.end()).await.status < 300);
    check_is_over(&second, &session).await;
    second.stop().await;
}

#[tokio::test]
async fn an_idle_session_goes_on_and_one_that_listens_is_not_idle() {
    let app = TestApp::with(fixture(), Settings::limits("session_idle_seconds = 1")).await;
    let idle = Older::open(&app, "2025-11-25").await;
    let listening = Older::open(&app, "2025-11-25").await;
    let mut stream = app.open(listening.stream()).await;
    // An eviction can't be observed from outside, so this waits for the idle time.
    tokio::time::sleep(std::time::Duration::from_millis(1_700)).await;
    app.send(call("test_trigger_tool_change", &json!({}))).await;
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/tools/list_changed");
    check_goes_on(&app, &idle).await;
    check_goes_on(&app, &listening).await;
    app.stop().await;
}

#[tokio::test]
async fn what_is_kept_of_a_session_can_be_unreadable() {
    let folder = tempdir().unwrap();
    let first = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    let session = Older::open(&first, "2025-11-25").await;
    first.stop().await;
    let file = folder.path().join("sessions").join(format!("{}.json", session.id));
    std::fs::write(file, "{").unwrap();
    let second = TestApp::at(folder.path(), fixture(), Settings::default()).await;
    check_is_over(&second, &session).await;
    check_goes_on(&second, &Older::open(&second, "2025-11-25").await).await;
    second.stop().await;
}
