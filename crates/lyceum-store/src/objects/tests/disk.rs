//! What only a disk can get wrong.

use lyceum_model::ErrorCode;
use tempfile::TempDir;

use super::super::Objects;
use super::{key, put, text};

#[tokio::test]
async fn objects_outlive_the_store_that_put_them() {
    let folder = TempDir::new().unwrap();
    put(&Objects::local(folder.path()).unwrap(), "raw/a.md", "kept").await;
    assert_eq!(text(&Objects::local(folder.path()).unwrap(), "raw/a.md").await.as_deref(), Some("kept"));
}

#[tokio::test]
async fn a_name_that_no_disk_takes_is_an_error_that_says_so() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::local(folder.path()).unwrap();
    for name in [format!("raw/{}.md", "é".repeat(130)), format!("raw/{}/a.md", "%".repeat(90))] {
        let error = objects.put(&key(&name), "x".into()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidPath);
        assert!(!error.is_transient());
        assert!(error.to_string().contains("is too long for a file: a part of it takes "), "{error}");
    }
}
