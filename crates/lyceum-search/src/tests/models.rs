//! Switching models: vectors are never mixed.

use std::time::Duration;

use tempfile::TempDir;

use super::{Scene, fake::Behaviour, library, page, until};
use crate::{Mode, tests::Control};

#[tokio::test(flavor = "multi_thread")]
async fn the_old_model_answers_until_the_new_one_is_complete() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), Some("one:256"), &control);
    let pages: Vec<_> =
        (0..200).map(|n| page(&format!("p{n}"), "Page", &format!("about topic{n} alone"))).collect();
    first.put(library()).await;
    first.put(pages).await;
    first.filled().await;
    first.close().await;
    control.embedded();
    // The same dimensions: vectors of both models could be compared, and must not be.
    control.set_behaviour(Behaviour::Slow(Duration::from_millis(150)));
    let second = Scene::open(folder.path(), Some("two:256"), &control);
    let mut seen = Vec::new();
    until("the models are switched", async || {
        let model = second.status().await.model;
        let answer = second.ask(Mode::Vector, "a loaf of bread wants flour").await;
        match &answer.degraded {
            None => {
                assert_eq!(answer.hits[0].facts.id, "bread", "{model:?}");
                assert!(answer.hits[0].score > 0.2);
            }
            // The active model's vectors are complete.
            Some(why) => assert!(!why.contains("no embedding yet"), "{why}"),
        }
        seen.extend(model.clone());
        model.as_deref() == Some("two")
    })
    .await;
    assert_eq!(seen[0], "one");
    second.filled().await;
    assert_eq!(control.embedded(), 203);
    control.set_behaviour(Behaviour::Normal);
    assert_eq!(second.ids(Mode::Vector, "topic77").await[0], "p77");
    second.close().await;
    // Only the new model's vectors are left.
    let again = Scene::open(folder.path(), Some("one:256"), &control);
    again.filled().await;
    assert!(control.embedded() > 0);
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_of_another_length_is_filled_when_the_old_one_is_gone() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), Some("one:64"), &control);
    first.put(library()).await;
    first.filled().await;
    first.close().await;
    control.make_unavailable("one");
    let second = Scene::open(folder.path(), Some("two:256"), &control);
    second.filled().await;
    assert_eq!(second.status().await.model.as_deref(), Some("two"));
    assert_eq!(second.ids(Mode::Vector, "a loaf").await[0], "bread");
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_model_set_up_otherwise_is_the_same() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), Some("one:64:here"), &control);
    first.put(library()).await;
    first.filled().await;
    first.close().await;
    assert_eq!(control.embedded(), 3);
    let second = Scene::open(folder.path(), Some("one:64:there"), &control);
    second.filled().await;
    assert_eq!(control.embedded(), 0);
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_before_the_new_model_is_complete_leaves_nothing_of_it() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), Some("one:64"), &control);
    first.put(library()).await;
    first.filled().await;
    first.close().await;
    control.set_behaviour(Behaviour::Slow(Duration::from_secs(60)));
    let second = Scene::open(folder.path(), Some("two:64"), &control);
    until("the new model is being embedded", async || second.status().await.pending == 3).await;
    second.close().await;
    control.set_behaviour(Behaviour::Normal);
    control.embedded();
    let back = Scene::open(folder.path(), Some("one:64"), &control);
    back.filled().await;
    assert_eq!(control.embedded(), 0);
    let opened = back.search.opened().await.unwrap();
    until("the other model is deleted", async || {
        opened.db.read(|tx| lyceum_store::vectors::models(tx, 1)).await.unwrap().len() == 1
    })
    .await;
    drop(opened);
    back.close().await;
}
