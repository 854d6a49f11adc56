//! Choosing a document.

use serde_json::{Value, json};

use super::path_of;

#[track_caller]
fn check(entry: &Value, expected: Option<&str>) {
    assert_eq!(path_of(entry).as_deref(), expected, "{entry}");
}

#[test]
fn a_document_is_asked_for_by_its_type_and_id() {
    check(&json!({ "contentType": "file", "id": "a-b" }), Some("/api/v1/entries/file/a-b"));
    check(&json!({ "contentType": "file", "id": "a b" }), None);
    check(&json!({ "contentType": "file", "id": "é" }), None);
    check(&json!({ "contentType": "file" }), None);
}
