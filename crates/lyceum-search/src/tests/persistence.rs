//! Files of the index survive failures elsewhere, and obsolete data is deleted.

use std::{collections::BTreeSet, fs, sync::Arc};

use lyceum_store::{events, pages};
use tempfile::TempDir;

use super::{Scene, library, page, until};
use crate::{Mode, lexical::Lexical, tests::Control};

#[tokio::test(flavor = "multi_thread")]
async fn words_that_can_t_be_written_answer_as_they_are_until_they_can() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), None, &control);
    first.put(library()).await;
    first.close().await;
    // Another writer holds tantivy's lock.
    let other = Lexical::open(&folder.path().join("words")).unwrap();
    other.update(&[], &[], other.position().unwrap()).unwrap();
    let scene = Scene::open(folder.path(), None, &control);
    let opened = scene.search.opened().await.unwrap();
    let before = opened.lexical().unwrap();
    scene.put(vec![page("late", "Late", "a latecomer among pages")]).await;
    scene.check(Mode::Lexical, "wheel", &["boats", "cars"]).await;
    scene.check(Mode::Lexical, "latecomer", &[]).await;
    drop(other);
    until("the page is indexed", async || scene.ids(Mode::Lexical, "latecomer").await == ["late"]).await;
    assert!(Arc::ptr_eq(&before, &opened.lexical().unwrap()), "the index was reopened");
    drop((before, opened));
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_can_t_be_read_for_a_moment_costs_no_index_of_words() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    scene.put(library()).await;
    let opened = scene.search.opened().await.unwrap();
    let before = opened.lexical().unwrap().position().unwrap();
    assert!(before.seq > 0);
    let rename = |from: &'static str, to: &'static str| {
        opened.db.write("test", move |tx| tx.execute(&format!("ALTER TABLE {from} RENAME TO {to}"), []))
    };
    rename("counters", "elsewhere").await.unwrap();
    opened.set_lexical(None);
    scene.search.open_lexical(&opened, true);
    assert!(opened.lexical().is_none());
    rename("elsewhere", "counters").await.unwrap();
    // Not rebuilt: it is at the same position as before.
    let reopened = Lexical::open(&folder.path().join("words")).unwrap();
    assert_eq!((reopened.position().unwrap(), reopened.count()), (before, 3));
    until("the lexical index is reopened", async || opened.lexical().is_some()).await;
    scene.check(Mode::Lexical, "wheel", &["boats", "cars"]).await;
    drop(opened);
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_events_go_and_whoever_is_far_behind_reads_everything() {
    let folder = TempDir::new().unwrap();
    let control = Control::new();
    let first = Scene::open(folder.path(), None, &control);
    // The first to open becomes the leader.
    first.search.opened().await.unwrap();
    let second = Scene::open(folder.path(), None, &control);
    second.search.opened().await.unwrap();
    first.put(library()).await;
    first.put(vec![page("late", "Late", "a latecomer among pages")]).await;
    let opened = first.search.opened().await.unwrap();
    assert_eq!(opened.trim(10).await.unwrap(), 0);
    assert_eq!(opened.trim(1).await.unwrap(), 3);
    let left = opened.db.read(|tx| events::after(tx, &pages::stream(1), 0, 10)).await.unwrap();
    assert_eq!(left.iter().map(|event| event.position.seq).collect::<Vec<_>>(), [4]);
    drop(opened);
    until("the follower has all pages", async || second.ids(Mode::Lexical, "wheel").await.len() == 2).await;
    first.put(vec![page("new", "New", "a newcomer")]).await;
    until("the follower gets the new page", async || second.ids(Mode::Lexical, "newcomer").await == ["new"])
        .await;
    first.close().await;
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_of_words_of_another_version_goes() {
    let folder = TempDir::new().unwrap();
    let old = folder.path().join("words/1");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("meta.json"), "{}").unwrap();
    let scene = Scene::open(folder.path(), None, &Control::new());
    scene.put(library()).await;
    assert!(!old.exists());
    scene.check(Mode::Lexical, "wheel", &["boats", "cars"]).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_notices_that_the_database_went_back_to_a_backup() {
    const TABLES: [&str; 6] = ["counters", "events", "pages", "chunks", "vectors", "pending"];
    let folder = TempDir::new().unwrap();
    let scene = Scene::open(folder.path(), Some("one:256"), &Control::new());
    scene.put(library()).await;
    scene.filled().await;
    let opened = scene.search.opened().await.unwrap();
    let for_each_table = async |statements: &'static [&'static str]| {
        let written = opened.db.write("test", move |tx| {
            for (table, sql) in TABLES.iter().flat_map(|table| statements.iter().map(move |sql| (table, sql)))
            {
                tx.execute(&sql.replace("{table}", table), [])?;
            }
            Ok(())
        });
        written.await.unwrap();
    };
    for_each_table(&["CREATE TABLE saved_{table} AS SELECT * FROM {table}"]).await;
    scene.put(vec![page("lost", "Lost", "a zeppelin above")]).await;
    scene.filled().await;
    scene.check(Mode::Hybrid, "\"zeppelin above\"", &["lost"]).await;

    for_each_table(&["DELETE FROM {table}", "INSERT INTO {table} SELECT * FROM saved_{table}"]).await;
    scene.put(vec![page("other", "Other", "a submarine below")]).await;
    scene.filled().await;
    scene.check(Mode::Hybrid, "\"zeppelin above\"", &[]).await;
    scene.check(Mode::Hybrid, "\"submarine below\"", &["other"]).await;
    let pages = opened.memory().entries().map(|entry| entry.facts.id.clone()).collect::<BTreeSet<_>>();
    assert_eq!(pages, ["boats", "bread", "cars", "other"].map(str::to_owned).into());
    assert_eq!(opened.memory().count_vectors(), 4);
    drop(opened);
    scene.close().await;
}
