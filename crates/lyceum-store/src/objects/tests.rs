//! The same behaviour on a disk and in memory.

mod disk;
mod keys;

use bytes::Bytes;
use tempfile::TempDir;

use super::{Key, Objects};

/// Names that real knowledge bases have, and some that would be easy to get wrong.
const ODD: [&str; 24] = [
    "raw/é ü/ñ.md",
    "raw/e\u{301}.md",
    "raw/日本語/文書.md",
    "raw/🏛️ library.md",
    "raw/a b/c#d?.md",
    "raw/a b/c#1",
    "raw/%41.md",
    "raw/A.md",
    "raw/%2541.md",
    "raw/%2E%2E/x.md",
    "raw/50% \"of\" *all*.md",
    "raw/a+b&c=d;e,f@g:h!$'()[]{}|^~`<>.md",
    "raw/back\\slash.md",
    "raw/...",
    "raw/.hidden/.md",
    "raw/v1.2/x.md",
    "raw/v1%2E2/x.md",
    "raw/no-dot",
    "raw/no-dot.%",
    "raw/no-dot/x.md",
    "raw/x.md#1/x.md",
    "raw/ x .md",
    "content/guide/team/a.json",
    "metadata/manifest.json",
];

/// Does the same to a store on a disk and to one in memory.
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
