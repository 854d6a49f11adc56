//! Chunks that the model rejects: lexical search still finds them, and other chunks are embedded.

use tempfile::TempDir;

use super::{
    Scene,
    fake::{Behaviour, Fault},
    library, page, sections, until,
};
use crate::{Mode, State, tests::Control};

#[tokio::test(flavor = "multi_thread")]
async fn one_passage_that_fails_keeps_no_other_from_being_found() {
    for fault in [Fault::Status(400), Fault::Status(500), Fault::Run, Fault::NoDirection] {
        let folder = TempDir::new().unwrap();
        let control = Control::new();
        control.set_behaviour(Behaviour::FailsOn("poison", fault));
        let scene = Scene::open(folder.path(), Some("one:256"), &control);
        scene.put(vec![page("bad", "Bad", "a poison among pages")]).await;
        scene.put(library()).await;
        scene.filled().await;
        assert_eq!(scene.ids(Mode::Vector, "a loaf").await[0], "bread", "{fault:?}");
        scene.check(Mode::Lexical, "poison", &["bad"]).await;
        assert_eq!(scene.ask(Mode::Hybrid, "a loaf").await.degraded, None, "{fault:?}");
        scene.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_page_that_fails_alone_does_not_make_the_model_a_failure() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    control.set_behaviour(Behaviour::FailsOn("poison", Fault::Status(500)));
    let scene = Scene::open(folder.path(), Some("one:256"), &control);
    scene.put(library()).await;
    scene.filled().await;
    scene.put(vec![page("boats", "Sailing", "only poison is left here")]).await;
    until("the chunk is processed", async || {
        let status = scene.status().await;
        assert_ne!(status.state, State::Degraded, "{:?}", status.reason);
        status.state == State::Ready && status.pending == 0
    })
    .await;
    scene.put(vec![page("late", "Late", "a latecomer among pages")]).await;
    scene.filled().await;
    assert_eq!(scene.ids(Mode::Vector, "latecomer").await[0], "late");
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_is_tried_again_at_the_next_start() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    control.set_behaviour(Behaviour::FailsOn("poison", Fault::Status(400)));
    let first = Scene::open(folder.path(), Some("one:256"), &control);
    first.put(vec![sections("mixed", &["alpha", "poison", "gamma"])]).await;
    first.filled().await;
    assert_eq!(first.search.opened().await.unwrap().memory().count_vectors(), 2);
    first.close().await;
    control.set_behaviour(Behaviour::Normal);
    control.embedded();
    let second = Scene::open(folder.path(), Some("one:256"), &control);
    until("it is embedded", async || {
        let opened = second.search.opened().await.unwrap();
        opened.memory().count_vectors() == 3
    })
    .await;
    assert_eq!(control.embedded(), 1);
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_refused_passages_than_are_looked_for_at_once_hide_nothing() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    control.set_behaviour(Behaviour::FailsOn("poison", Fault::Status(400)));
    let scene = Scene::open(folder.path(), Some("one:64"), &control);
    let bad: Vec<_> = (0..1_100).map(|n| page(&format!("p{n}"), "Page", &format!("poison{n}"))).collect();
    scene.put(bad).await;
    scene.put(library()).await;
    scene.filled().await;
    assert_eq!(scene.search.opened().await.unwrap().memory().count_vectors(), 3);
    scene.close().await;
}
