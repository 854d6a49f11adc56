//! Missing and corrupt objects are restored.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use lyceum_content::knowledge::Entry;
use lyceum_store::{Key, Objects};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::base::{Base, document};
use crate::sync::OnProgress;

/// Timeout of a repair.
const REPAIR_TIMEOUT: Duration = Duration::from_secs(20);

fn entry(base: &Base, content_type: &str, id: &str) -> Arc<Entry> {
    base.knowledge.snapshot().catalog.get(content_type, id).unwrap().clone()
}

/// Damages the object of a document, and checks that it is restored.
async fn check(damage: impl AsyncFn(&Objects, &Key)) {
    let objects = Objects::memory();
    let base = Base::over(objects.clone(), &[("notes/a.md", &document("A", "", "text"))]);
    base.sync().await;
    let key = Key::content("file", "a").unwrap();
    damage(&objects, &key).await;
    let stop = CancellationToken::new();
    let fresh = tokio::spawn(base.knowledge.clone().keep_fresh(stop.clone()));

    let refused = base.knowledge.document_bytes(&entry(&base, "file", "a")).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the stored document is corrupt and is being restored; retry in a moment"
    );
    let deadline = Instant::now() + REPAIR_TIMEOUT;
    let restored = loop {
        match base.knowledge.document(&entry(&base, "file", "a")).await {
            Ok(document) => break document,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(restored.content.trim(), "text");
    // The object is restored too, once it is uploaded.
    let hash = entry(&base, "file", "a").hash.clone();
    while objects.get(&key).await.unwrap().is_none_or(|bytes| crate::document::hash(&bytes) != hash) {
        assert!(Instant::now() < deadline, "the object was not restored");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    fresh.await.unwrap();
}

#[tokio::test]
async fn a_lost_object_is_brought_in_again() {
    check(async |objects, key| objects.delete(key).await.unwrap()).await;
}

#[tokio::test]
async fn a_damaged_object_is_brought_in_again() {
    check(async |objects, key| {
        let mut bytes = objects.get(key).await.unwrap().unwrap().to_vec();
        bytes[20] ^= 1;
        objects.put(key, Bytes::from(bytes)).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_object_of_another_document_is_not_served_in_its_place() {
    check(async |objects, key| objects.put(key, Bytes::from_static(b"{\"id\":\"a\"}")).await.unwrap()).await;
}

#[tokio::test]
async fn a_document_that_was_read_before_its_upload_hides_no_damage_after_it() {
    let objects = Objects::memory();
    let base = Base::over(objects.clone(), &[("notes/a.md", &document("A", "", "text"))]);
    let quiet: OnProgress = Arc::new(|_| ());
    base.knowledge.sync(&quiet).await.unwrap();
    let before = base.knowledge.document_bytes(&entry(&base, "file", "a")).await.unwrap();
    assert_eq!(before.hash, entry(&base, "file", "a").hash, "read from the staging area");
    base.sync().await;
    objects.delete(&Key::content("file", "a").unwrap()).await.unwrap();
    let refused = base.knowledge.document_bytes(&entry(&base, "file", "a")).await.unwrap_err();
    assert!(refused.to_string().contains("is being restored"), "{refused}");
}
