//! Graceful shutdown: in-flight calls finish, new requests are rejected, and there is a time limit.

use std::time::{Duration, Instant};

use http::header::RETRY_AFTER;
use serde_json::json;

use crate::app::{Older, Settings, TestApp, call, get, hub, modern, post, waiting, within};

/// Waits until the server reports that it is shutting down.
async fn begin_stop(app: &TestApp) {
    app.begin_stop();
    within("readiness is gone", async { while app.send(get("/readyz")).await.status == 200 {} }).await;
}

#[tokio::test]
async fn a_call_under_way_finishes_while_new_work_is_refused() {
    let (tool, mut waiting) = waiting("wait");
    let app = TestApp::with(hub([tool]), Settings::default()).await;
    let (modern_call, rest_call) = (call("wait", &json!({})), post("/tools/wait/call", "{}"));
    let stopping = async {
        waiting.began().await;
        waiting.began().await;
        begin_stop(&app).await;
        let ready = app.send(get("/readyz")).await;
        assert_eq!((ready.status, &ready.json()["ready"]), (503, &json!(false)));
        assert_eq!(app.send(get("/livez")).await.status, 200);
        assert_eq!(app.send(get("/health")).await.json()["status"], "degraded");
        for request in [modern("tools/list", &json!({})), get("/tools")] {
            let refused = app.send(request).await;
            assert_eq!((refused.status, refused.headers[RETRY_AFTER].as_bytes()), (503, &b"1"[..]));
            let error = &refused.json()["error"];
            let code = error.pointer("/data/error_code").unwrap_or(&error["code"]);
            assert_eq!(code, "UNAVAILABLE");
        }
        waiting.let_go();
    };
    let (over_mcp, by_rest, ()) = tokio::join!(app.send(modern_call), app.send(rest_call), stopping);
    assert_eq!(over_mcp.result()["content"][0]["text"], "let go");
    assert_eq!(by_rest.json()["content"][0]["text"], "let go");
    app.stop().await;
}

#[tokio::test]
async fn a_call_of_an_older_session_finishes() {
    let (tool, mut waiting) = waiting("wait");
    let app = TestApp::with(hub([tool]), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let under_way = app.open(session.call("wait", &json!({}))).await;
    let mut stream = app.open(session.stream()).await;
    waiting.began().await;
    app.begin_stop();
    assert_eq!(stream.event().await, None, "the other stream ends at once");
    waiting.let_go();
    assert_eq!(under_way.whole().await.result()["content"][0]["text"], "let go");
    app.stop().await;
}

#[tokio::test]
async fn a_stream_of_progress_finishes() {
    let (tool, mut waiting) = waiting("wait");
    let app = TestApp::with(hub([tool]), Settings::default()).await;
    let params = json!({ "name": "wait", "_meta": { "progressToken": 1 } });
    let mut stream = app.open(modern("tools/call", &params)).await;
    assert_eq!(stream.event().await.unwrap()["method"], "notifications/progress");
    waiting.began().await;
    begin_stop(&app).await;
    waiting.let_go();
    assert_eq!(stream.whole().await.result()["content"][0]["text"], "let go");
    app.stop().await;
}

#[tokio::test]
async fn the_stream_of_an_older_session_ends() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let mut stream = app.open(session.stream()).await;
    app.begin_stop();
    assert_eq!(stream.event().await, None);
    app.stop().await;
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_the_server_up() {
    let app = TestApp::start().await;
    let idle = app.connect().await;
    let listener = app.open(modern("subscriptions/listen", &json!({ "notifications": {} }))).await;
    let began = Instant::now();
    app.stop().await;
    assert!(began.elapsed() < Duration::from_secs(5), "took {:?}", began.elapsed());
    drop((idle, listener));
}

async fn check_ends_within(limits: &'static str, seconds: u64) {
    let (tool, mut waiting) = waiting("wait");
    let app = TestApp::with(hub([tool]), Settings::limits(limits)).await;
    let session = Older::open(&app, "2025-11-25").await;
    let older = app.open(session.call("wait", &json!({}))).await;
    waiting.began().await;
    let addr = app.addr;
    let never = app.send(call("wait", &json!({})));
    tokio::select! {
        answer = never => panic!("{answer:?} from {addr}"),
        () = waiting.began() => {}
    }
    let began = Instant::now();
    app.stop().await;
    assert!(began.elapsed() < Duration::from_secs(seconds), "took {:?}", began.elapsed());
    drop(older);
}

#[tokio::test]
async fn a_call_that_never_ends_is_cut_off() {
    check_ends_within("shutdown_seconds = 1", 4).await;
}
