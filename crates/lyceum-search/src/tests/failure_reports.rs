//! Failure messages: a reason for callers, full detail for operators.

use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{
    Scene,
    fake::{Behaviour, Fault, SECRET},
    library, until,
};
use crate::{Mode, Query, State, tests::Control};

#[tokio::test(flavor = "multi_thread")]
async fn callers_hear_that_the_model_fails_and_only_operators_what_it_said() {
    for (fault, expected) in [
        (Fault::Status(502), "the embedding endpoint refused (status 502)"),
        (Fault::Run, "the model can't be used"),
    ] {
        let folder = TempDir::new().unwrap();
        let control = Control::new();
        // Every text contains an `e`, including the probe text.
        control.set_behaviour(Behaviour::FailsOn("e", fault));
        let scene = Scene::open(folder.path(), Some("one:64"), &control);
        scene.put(library()).await;
        until("the model failed", async || scene.status().await.state == State::Degraded).await;
        let status = scene.status().await;
        assert_eq!(status.reason.as_deref(), Some(expected));
        assert!(status.detail.as_ref().unwrap().contains(SECRET), "{status:?}");
        assert!(!serde_json::to_string(&status).unwrap().contains(SECRET));
        let answer = scene.ask(Mode::Hybrid, "wheels").await;
        assert_eq!(answer.degraded, Some(format!("lexical results only: {expected}")));
        scene.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_answer_costs_a_few_questions_their_time_and_no_more() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let scene = Scene::open(folder.path(), Some("one:64"), &control);
    scene.put(library()).await;
    scene.filled().await;
    // A rejected query does not count for the breaker.
    control.set_behaviour(Behaviour::FailsOn("odd", Fault::Status(400)));
    for number in 0..5 {
        let answer = scene.ask(Mode::Hybrid, &format!("an odd car {number}")).await;
        assert!(answer.degraded.unwrap().ends_with("refused (status 400)"));
    }
    assert_eq!(scene.ask(Mode::Hybrid, "a car").await.degraded, None);
    control.set_behaviour(Behaviour::Slow(Duration::from_secs(60)));
    let ask = async |number: usize| scene.ask(Mode::Hybrid, &format!("wheels {number}")).await;
    let late = tokio::join!(ask(1), ask(2), ask(3));
    assert!(late.0.degraded.unwrap().contains("did not answer within"));
    let started = Instant::now();
    for number in 4..20 {
        let reason = ask(number).await.degraded.unwrap();
        assert_eq!(reason, "lexical results only: the model keeps failing; the next attempt is in 30 s");
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    // Cached query embeddings are still used.
    assert_eq!(scene.ask(Mode::Hybrid, "a car").await.degraded, None);
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_can_t_be_opened_is_said_to_be_so() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("search");
    std::fs::write(&place, "no folder").unwrap();
    let scene = Scene::open(&place, None, &Control::new());
    until("the model failed", async || scene.status().await.state == State::Degraded).await;
    let status = scene.status().await;
    assert_eq!(status.reason.as_deref(), Some("the index can't be used: see the log"));
    assert!(status.detail.unwrap().starts_with("the data folder can't be used"));
    let result = scene.search.find(Query { text: "a".to_owned(), ..Query::default() }).await;
    assert_eq!(result.unwrap_err().to_string(), "the index can't be used: see the log");
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_can_t_be_asked_for_is_said_until_it_can() {
    let folder = TempDir::new().unwrap();
    let lock = folder.path().join("leader.lock");
    std::fs::create_dir(&lock).unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    assert!(!scene.search.apply(super::SOURCE, library(), Vec::new()).await.unwrap());
    let status = scene.status().await;
    assert_eq!(status.state, State::Degraded);
    assert_eq!(status.reason.as_deref(), Some("the index is not updated: could not lock it"));
    std::fs::remove_dir(&lock).unwrap();
    until("it is locked", async || scene.status().await.state == State::Ready).await;
    scene.put(library()).await;
    scene.close().await;
}
