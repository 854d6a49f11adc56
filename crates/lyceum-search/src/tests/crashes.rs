//! A process that embeds is killed repeatedly; no vector is lost or duplicated.
//!
//! The process is this test binary, started with an environment variable.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use lyceum_harness::random::Random;
use tempfile::TempDir;

use super::{Scene, fake::Behaviour, page};
use crate::{Mode, Page, tests::Control};

const FOLDER_VARIABLE: &str = "LYCEUM_TEST_SEARCH_FOLDER";
const TEST: &str = "tests::crashes::a_process_fills_a_folder_until_it_is_killed";
const MODEL: &str = "one:128";

/// Pages of several chunks each.
fn pages() -> Vec<Page> {
    let body = |n: usize| {
        let section = |part: usize| {
            format!("## Part {part}\n\n{}\n\n", format!("topic{n} part{part} word{} ", n * part).repeat(15))
        };
        (1..4).map(section).collect::<String>()
    };
    (0..150).map(|n| page(&format!("p{n}"), &format!("Page {n}"), &body(n))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_fills_a_folder_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER_VARIABLE) else { return };
    let control = Control::new();
    control.set_behaviour(Behaviour::Slow(Duration::from_millis(20)));
    let scene = Scene::open(Path::new(&folder), Some(MODEL), &control);
    for batch in pages().chunks(40) {
        scene.put(batch.to_vec()).await;
    }
    // Until it is killed; the limit is for a parent that died.
    tokio::time::sleep(Duration::from_secs(30)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_loses_no_vector_and_leaves_none_twice() {
    let folder = TempDir::new().unwrap();
    let mut random = Random::drawn().unwrap();
    for _ in 0..10 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
            .env(FOLDER_VARIABLE, folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        tokio::time::sleep(Duration::from_millis(100) + random.shorter_than(Duration::from_millis(900)))
            .await;
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let control = Control::new();
    let killed = Scene::open(folder.path(), Some(MODEL), &control);
    killed.put(pages()).await;
    killed.filled().await;
    eprintln!("{} of {} vectors were missing", control.embedded(), killed.status().await.chunks);
    let fresh_folder = TempDir::new().unwrap();
    let fresh = Scene::open(fresh_folder.path(), Some(MODEL), &control);
    fresh.put(pages()).await;
    fresh.filled().await;
    let (here, there) = (killed.status().await, fresh.status().await);
    assert_eq!((here.documents, here.chunks, here.pending), (there.documents, there.chunks, 0));
    for scene in [&killed, &fresh] {
        let opened = scene.search.opened().await.unwrap();
        assert_eq!(i64::try_from(opened.memory().count_vectors()).unwrap(), there.chunks);
    }
    for n in (0..150).step_by(7) {
        for (mode, question) in
            [(Mode::Lexical, format!("topic{n}")), (Mode::Vector, format!("part2 topic{n}"))]
        {
            let (here, there) = (killed.ask(mode, &question).await, fresh.ask(mode, &question).await);
            let best = |answer: &crate::QueryResult| (answer.hits[0].facts.id.clone(), answer.hits[0].lines);
            assert_eq!(best(&here), best(&there), "{question}");
            assert!((here.hits[0].score - there.hits[0].score).abs() < 1e-3, "{question}");
        }
    }
    killed.close().await;
    fresh.close().await;
}
