//! Several processes on one folder: the leader writes, all serve queries.

use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{SOURCE, Scene, library, page, until};
use crate::{Mode, tests::Control};

#[tokio::test(flavor = "multi_thread")]
async fn one_process_writes_the_other_follows_and_takes_over() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), Some("one:256"), &control);
    first.put(library()).await;
    let second = Scene::open(folder.path(), Some("one:256"), &control);
    assert!(!second.search.apply(SOURCE, library(), Vec::new()).await.unwrap());
    first.filled().await;
    first.put(vec![page("late", "Late", "a latecomer among pages")]).await;
    let started = Instant::now();
    until("the follower finds it by lexical search", async || {
        second.ids(Mode::Lexical, "latecomer").await == ["late"]
    })
    .await;
    eprintln!("the follower found it after {:?}", started.elapsed());
    assert!(started.elapsed() < Duration::from_secs(5));
    until("the follower finds it by vector search", async || {
        let answer = second.ask(Mode::Vector, "latecomer").await;
        answer.hits.first().is_some_and(|hit| hit.facts.id == "late")
    })
    .await;
    first.search.apply(SOURCE, Vec::new(), vec!["guide/cars".to_owned()]).await.unwrap();
    until("the follower drops it", async || second.ids(Mode::Lexical, "motor").await.is_empty()).await;
    control.embedded();
    first.close().await;
    until("the follower takes over", async || {
        second.search.apply(SOURCE, vec![page("new", "New", "a newcomer")], Vec::new()).await.unwrap()
    })
    .await;
    second.check(Mode::Lexical, "newcomer", &["new"]).await;
    second.filled().await;
    assert_eq!(control.embedded(), 1);
    assert_eq!(second.ids(Mode::Vector, "newcomer").await[0], "new");
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_follows_uses_the_model_that_the_other_exchanged_to() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), Some("one:256"), &control);
    first.put(library()).await;
    first.filled().await;
    first.close().await;
    let is_leader = Scene::open(folder.path(), Some("two:256"), &control);
    is_leader.put(Vec::new()).await;
    // One follower has the leader's settings, the other still the old ones.
    let follows = Scene::open(folder.path(), Some("two:256"), &control);
    let differs = Scene::open(folder.path(), Some("one:256"), &control);
    for scene in [&is_leader, &follows, &differs] {
        until("the new model is used", async || scene.status().await.model.as_deref() == Some("two")).await;
        assert_eq!(scene.ids(Mode::Vector, "a loaf").await[0], "bread");
        assert_eq!(scene.ask(Mode::Hybrid, "a loaf").await.degraded, None);
    }
    is_leader.put(vec![page("late", "Late", "a latecomer among pages")]).await;
    for scene in [&follows, &differs] {
        until("vector search finds it", async || {
            scene.ids(Mode::Vector, "latecomer").await.first().is_some_and(|id| id == "late")
        })
        .await;
    }
    for scene in [is_leader, follows, differs] {
        scene.close().await;
    }
}
