//! The object store contains exactly the published objects.

use std::sync::Arc;

use bytes::Bytes;
use lyceum_store::{Key, Objects};

use super::base::{Base, document};
use crate::{Progress, sync::OnProgress};

async fn keys(objects: &Objects) -> Vec<String> {
    objects.list("", 100).await.unwrap().iter().map(|key| key.as_str().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_a_sync_has_staged_are_not_taken_away_by_who_shelves_the_same_bytes() {
    let objects = Objects::memory();
    let text = document("A", "", "the same text");
    let base = Base::over(objects.clone(), &[("notes/a.md", &text)]);
    let quiet: OnProgress = Arc::new(|_| ());
    base.knowledge.sync(&quiet).await.unwrap();
    base.remove("notes/a.md");
    base.write("notes/b.md", &text);
    // The first sync's objects are uploaded after the second has staged its own, before it publishes them.
    let uploading = base.knowledge.clone();
    let on_progress: OnProgress = Arc::new(move |progress| {
        if matches!(progress, Progress::Staging { .. }) {
            let (uploading, quiet) = (uploading.clone(), quiet.clone());
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(async { uploading.upload(&quiet).await.unwrap() });
            });
        }
    });
    base.knowledge.sync(&on_progress).await.unwrap();
    base.sync().await;
    let expected = ["content/file/b.json", "metadata/manifest.json", "raw/notes/b.md"];
    assert_eq!(keys(&objects).await, expected);
    let (left, failures) = base.knowledge.pending_objects().await.unwrap();
    assert_eq!((left, failures), (0, Vec::new()));
}

#[tokio::test]
async fn what_a_lost_database_knew_of_is_taken_away() {
    let objects = Objects::memory();
    let text = document("A", "", "text");
    let before = Base::over(objects.clone(), &[("notes/a.md", &text), ("notes/b.md", &text)]);
    before.sync().await;
    drop(before);
    let rebuilt = Base::over(objects.clone(), &[("notes/b.md", &text)]);
    rebuilt.sync().await;
    let expected = ["content/file/b.json", "metadata/manifest.json", "raw/notes/b.md"];
    assert_eq!(keys(&objects).await, expected);
}

#[tokio::test]
async fn what_somebody_else_keeps_is_left_alone() {
    let objects = Objects::memory();
    let theirs = ["content/x.json", "metadata/manifest.json", "raw/y.md"].map(|key| Key::parse(key).unwrap());
    for key in &theirs {
        objects.put(key, Bytes::from_static(b"{}")).await.unwrap();
    }
    let base = Base::over(objects.clone(), &[("notes/a.md", &document("A", "", "text"))]);
    base.sync().await;
    let found = keys(&objects).await;
    assert!(theirs.iter().all(|key| found.iter().any(|found| found == key.as_str())), "{found:?}");
}
