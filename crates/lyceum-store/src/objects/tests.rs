//! Behaviour of local and in-memory stores.

mod disk;
mod keys;
mod odd;
mod s3;

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use lyceum_model::ErrorCode;
use object_store::{
    memory::InMemory,
    throttle::{ThrottleConfig, ThrottledStore},
};
use tempfile::TempDir;

use super::{Key, ObjectError, ObjectOptions, Objects, names::Names};
use odd::ODD;

/// Runs `behaviour` on a local store and on one in memory.
async fn check(behaviour: impl AsyncFn(&Objects)) {
    let folder = TempDir::new().unwrap();
    behaviour(&Objects::local(&folder.path().join("objects")).unwrap()).await;
    behaviour(&Objects::memory()).await;
}

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn keys(texts: &[&str]) -> Vec<Key> {
    let mut keys: Vec<Key> = texts.iter().map(|text| key(text)).collect();
    keys.sort();
    keys
}

async fn put(objects: &Objects, name: &str, text: &'static str) {
    objects.put(&key(name), text.into()).await.unwrap();
}

async fn text(objects: &Objects, name: &str) -> Option<String> {
    let bytes = objects.get(&key(name)).await.unwrap();
    bytes.map(|bytes| String::from_utf8(bytes.into()).unwrap())
}

#[tokio::test]
async fn what_was_put_is_found_until_it_is_deleted() {
    check(async |objects| {
        assert_eq!(text(objects, "raw/a.md").await, None);
        put(objects, "raw/a.md", "one").await;
        assert_eq!(text(objects, "raw/a.md").await.as_deref(), Some("one"));
        put(objects, "raw/a.md", "another, longer").await;
        assert_eq!(text(objects, "raw/a.md").await.as_deref(), Some("another, longer"));
        put(objects, "raw/a.md", "").await;
        assert_eq!(text(objects, "raw/a.md").await.as_deref(), Some(""));
        objects.delete(&key("raw/a.md")).await.unwrap();
        assert_eq!(text(objects, "raw/a.md").await, None);
        objects.delete(&key("raw/a.md")).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn odd_names_come_back_as_they_were_and_none_is_another() {
    check(async |objects| {
        let items = ODD.iter().map(|name| (key(name), Bytes::from_static(name.as_bytes()))).collect();
        for (key, result) in objects.put_all(items).await {
            result.unwrap_or_else(|error| panic!("{key}: {error:?}"));
        }
        for name in ODD {
            assert_eq!(text(objects, name).await.as_deref(), Some(name));
        }
        assert_eq!(objects.list("", 100).await.unwrap(), keys(&ODD));
        for name in ODD {
            objects.delete(&key(name)).await.unwrap();
        }
        assert_eq!(objects.list("", 100).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_name_can_be_a_file_and_a_folder() {
    check(async |objects| {
        put(objects, "raw/x.md", "file").await;
        put(objects, "raw/x.md/y.md", "below").await;
        assert_eq!(text(objects, "raw/x.md").await.as_deref(), Some("file"));
        assert_eq!(text(objects, "raw/x.md/y.md").await.as_deref(), Some("below"));
        objects.delete(&key("raw/x.md")).await.unwrap();
        assert_eq!(text(objects, "raw/x.md").await, None);
        objects.delete(&key("raw/x.md/y.md")).await.unwrap();
        put(objects, "raw/x.md", "file again").await;
        assert_eq!(objects.list("raw", 10).await.unwrap(), keys(&["raw/x.md"]));
    })
    .await;
}

#[tokio::test]
async fn a_list_is_of_one_folder_in_order_and_whole() {
    check(async |objects| {
        for name in ["raw/b.md", "raw/a/z.md", "raw/a.md", "raw/ab/c.md", "content/a/z.json"] {
            put(objects, name, "x").await;
        }
        let all = ["content/a/z.json", "raw/a.md", "raw/a/z.md", "raw/ab/c.md", "raw/b.md"];
        assert_eq!(objects.list("", 5).await.unwrap(), keys(&all));
        assert_eq!(objects.list("raw", 10).await.unwrap(), keys(&all[1..]));
        assert_eq!(objects.list("raw/a/", 10).await.unwrap(), keys(&["raw/a/z.md"]));
        assert_eq!(objects.list("raw/nothing", 10).await.unwrap(), []);
        assert_eq!(objects.list("../..", 10).await.unwrap(), []);
        let error = objects.list("raw", 3).await.unwrap_err();
        assert_eq!(error.to_string(), "there are more than 3 objects; list a folder further down");
    })
    .await;
}

#[tokio::test]
async fn many_are_put_and_each_has_its_result_in_its_place() {
    check(async |objects| {
        let names: Vec<String> = (0..500).map(|n| format!("raw/{}/{n}.md", n % 7)).collect();
        let items = names.iter().map(|name| (key(name), Bytes::from(name.clone()))).collect();
        let results = objects.put_all(items).await;
        assert!(results.iter().all(|(_, result)| result.is_ok()));
        assert!(results.iter().map(|(key, _)| key.as_str()).eq(&names));
        for name in &names {
            assert_eq!(text(objects, name).await.as_ref(), Some(name));
        }
        assert_eq!(objects.list("raw", 1000).await.unwrap().len(), 500);
    })
    .await;
}

#[tokio::test]
async fn an_object_that_is_too_large_is_refused_before_it_is_held() {
    check(async |objects| {
        put(objects, "raw/a.md", "12345").await;
        let small = objects.clone().with_options(ObjectOptions { max_bytes: 4, ..ObjectOptions::default() });
        put(&small, "raw/b.md", "1234").await;
        for error in [
            small.put(&key("raw/a.md"), "123456".into()).await.unwrap_err(),
            small.get(&key("raw/a.md")).await.unwrap_err(),
        ] {
            assert_eq!(error.code(), ErrorCode::PayloadTooLarge);
            assert_eq!(error.to_string(), "the object is larger than 4 bytes; split it, or raise the limit");
        }
        assert_eq!(text(objects, "raw/a.md").await.as_deref(), Some("12345"));
    })
    .await;
}

#[tokio::test]
async fn no_operation_waits_longer_than_its_limit() {
    let day = Duration::from_secs(86_400);
    let config =
        ThrottleConfig { wait_put_per_call: day, wait_list_per_call: day, ..ThrottleConfig::default() };
    let slow = Objects::over(Arc::new(ThrottledStore::new(InMemory::new(), config)), Names::keys());
    let timeout = Duration::from_millis(50);
    let slow = slow.with_options(ObjectOptions { timeout, ..ObjectOptions::default() });
    let item = (key("raw/a.md"), Bytes::new());
    for error in [
        slow.put(&item.0, Bytes::new()).await.unwrap_err(),
        slow.list("", 10).await.unwrap_err(),
        slow.put_all(vec![item]).await.remove(0).1.unwrap_err(),
    ] {
        assert_eq!((error.code(), error.is_transient()), (ErrorCode::Timeout, true));
    }
}

#[test]
fn a_full_disk_says_so() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
        let source = object_store::Error::Generic { store: "disk", source: io::Error::from(kind).into() };
        for error in [ObjectError::from(source), ObjectError::from(io::Error::from(kind))] {
            assert_eq!((error.code(), error.is_transient()), (ErrorCode::Unavailable, true));
            assert!(error.to_string().starts_with("the disk is full; make room"), "{error}");
        }
    }
}

#[tokio::test]
async fn objects_can_be_put_from_many_tasks() {
    check(async |objects| {
        let tasks = (0..20).map(|n| {
            let objects = objects.clone();
            tokio::spawn(async move { objects.put(&key(&format!("raw/{n}/a.md")), Bytes::new()).await })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap().unwrap();
        }
        assert_eq!(objects.list("raw", 100).await.unwrap().len(), 20);
    })
    .await;
}
