//! More sessions than fit in memory: the one idle for longest is evicted, and its client does not notice.

use futures::future::join_all;
use serde_json::json;

use super::check_goes_on;
use crate::app::{Older, Settings, TestApp, fixture, hub, waiting};

#[tokio::test]
async fn every_session_goes_on_however_many_there_are() {
    let app = TestApp::with(fixture(), Settings::limits("sessions = 2")).await;
    let mut sessions = Vec::new();
    for _ in 0..5 {
        sessions.push(Older::open(&app, "2025-11-25").await);
    }
    for session in sessions.iter().chain(&sessions) {
        check_goes_on(&app, session).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_speak_in_turn_over_one_place_all_go_on() {
    let app = TestApp::with(fixture(), Settings::limits("sessions = 1")).await;
    let (one, other) = (Older::open(&app, "2025-11-25").await, Older::open(&app, "2025-11-25").await);
    for _ in 0..50 {
        check_goes_on(&app, &one).await;
        check_goes_on(&app, &other).await;
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_speak_at_once_over_few_places_all_go_on() {
    let app = TestApp::with(fixture(), Settings::limits("sessions = 2")).await;
    let client = async || {
        let session = Older::open(&app, "2025-11-25").await;
        for _ in 0..10 {
            check_goes_on(&app, &session).await;
        }
    };
    join_all((0..6).map(|_| client())).await;
    app.stop().await;
}

#[tokio::test]
async fn a_newcomer_does_not_cut_off_a_call_under_way() {
    let (tool, mut waiting) = waiting("wait");
    let app = TestApp::with(hub([tool]), Settings::limits("sessions = 1")).await;
    let session = Older::open(&app, "2025-11-25").await;
    let under_way = app.open(session.call("wait", &json!({}))).await;
    waiting.began().await;
    app.send(Older::initialize("2025-11-25", &json!({}))).await;
    waiting.let_go();
    let answer = under_way.whole().await;
    assert_eq!(answer.result()["content"][0]["text"], "let go");
    app.stop().await;
}
