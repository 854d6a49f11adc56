//! Behaviour of local stores only.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, SystemTime},
};

use lyceum_model::ErrorCode;
use tempfile::TempDir;

use super::super::Objects;
use super::{key, keys, put, text};

/// Creates an empty file.
fn create_file(folder: &Path, name: &str) {
    File::create(folder.join(name)).unwrap();
}

/// Sets the modification time to two hours ago.
fn age(folder: &Path, name: &str) {
    let two_hours_ago = SystemTime::now() - Duration::from_secs(7200);
    File::open(folder.join(name)).unwrap().set_modified(two_hours_ago).unwrap();
}

#[tokio::test]
async fn objects_outlive_the_store_that_put_them() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path().join("not/there/yet");
    put(&Objects::local(&folder).unwrap(), "raw/a.md", "kept").await;
    assert_eq!(text(&Objects::local(&folder).unwrap(), "raw/a.md").await.as_deref(), Some("kept"));
}

#[tokio::test]
async fn a_folder_that_is_gone_is_made_again() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::local(folder.path()).unwrap();
    put(&objects, "raw/a/b.md", "one").await;
    fs::remove_dir_all(folder.path().join("raw")).unwrap();
    assert_eq!(text(&objects, "raw/a/b.md").await, None);
    put(&objects, "raw/a/b.md", "two").await;
    assert_eq!(text(&objects, "raw/a/b.md").await.as_deref(), Some("two"));
}

#[tokio::test]
async fn what_a_crash_left_is_never_listed_and_is_cleared_later() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::local(folder.path()).unwrap();
    for name in ["raw/a.md", "raw/#1/x.md#2", "raw/gone/b.md", "raw/just/c.md"] {
        put(&objects, name, "kept").await;
    }
    objects.delete(&key("raw/gone/b.md")).await.unwrap();
    objects.delete(&key("raw/just/c.md")).await.unwrap();
    create_file(folder.path(), "raw/a.md#1");
    create_file(folder.path(), "raw/a.md#2");
    for name in ["raw/a.md", "raw/a.md#1", "raw/gone"] {
        age(folder.path(), name);
    }
    let all = keys(&["raw/a.md", "raw/#1/x.md#2"]);
    assert_eq!(objects.list("", 10).await.unwrap(), all);

    let objects = Objects::local(folder.path()).unwrap();
    objects.clear_unfinished().await.unwrap();
    assert_eq!(objects.list("", 10).await.unwrap(), all);
    let there = |name: &str| folder.path().join(name).exists();
    assert!(there("raw/a.md") && !there("raw/a.md#1") && !there("raw/a.md#2") && !there("raw/gone"));
    assert!(there("raw/just"), "a writer may be about to use it");
    put(&objects, "raw/a.md", "new").await;
    assert_eq!(text(&objects, "raw/a.md").await.as_deref(), Some("new"));
}

#[tokio::test]
async fn what_others_put_into_the_folder_is_not_listed() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::local(folder.path()).unwrap();
    put(&objects, "raw/a.md", "ours").await;
    create_file(folder.path(), "raw/.DS_Store");
    create_file(folder.path(), "raw/no-dot");
    fs::create_dir(folder.path().join("raw/x.md")).unwrap();
    create_file(folder.path(), "raw/x.md/y.md");
    assert_eq!(objects.list("", 10).await.unwrap(), keys(&["raw/.DS_Store", "raw/a.md"]));
}

#[tokio::test]
async fn a_name_that_no_disk_takes_is_an_error_that_says_so() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::local(folder.path()).unwrap();
    let check = async |name: &str, accepted: bool| {
        let Err(error) = objects.put(&key(name), "x".into()).await else {
            assert!(accepted, "{name}");
            assert_eq!(text(&objects, name).await.as_deref(), Some("x"));
            return;
        };
        assert!(!accepted && !error.is_transient(), "{name}: {error}");
        assert_eq!(error.code(), ErrorCode::InvalidPath);
        assert!(error.to_string().contains("at most 251 bytes"), "{error}");
        assert_eq!(text(&objects, name).await, None);
        objects.delete(&key(name)).await.unwrap();
    };
    check(&format!("raw/{}.md", "é".repeat(124)), true).await;
    check(&format!("raw/{}x.md", "é".repeat(124)), false).await;
    check(&format!("raw/{}.md", "é".repeat(300)), false).await;
    check(&format!("raw/{}/a.md", "%".repeat(84)), false).await;
    check(&format!("raw/{}/a.md", "a".repeat(251)), true).await;
}

#[test]
fn a_folder_that_can_not_be_one_is_refused() {
    let folder = TempDir::new().unwrap();
    create_file(folder.path(), "file");
    let error = Objects::local(&folder.path().join("file")).unwrap_err();
    assert!(error.to_string().starts_with("the folder for objects can't be used ("), "{error}");
    let error = Objects::local(&folder.path().join("file/below")).unwrap_err();
    assert!(error.to_string().starts_with("the folder for objects can't be used ("), "{error}");
}

#[tokio::test]
async fn who_is_alone_clears_what_was_left_half_written() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::local(folder.path()).unwrap();
    put(&objects, "raw/a#1.md", "kept").await;
    let half = folder.path().join("raw/b.md#1");
    std::fs::write(&half, "half").unwrap();
    drop(Objects::local(folder.path()).unwrap());
    assert!(half.exists(), "another process may be writing it");
    objects.clear_unfinished().await.unwrap();
    assert!(!half.exists());
    assert_eq!(text(&objects, "raw/a#1.md").await.as_deref(), Some("kept"));
}
