//! `POST /api/v1/sources/{name}/sync`: an operator syncs a source.

use serde_json::json;

use super::base::{Base, refused};
use crate::app::{TestApp, get, post};

#[tokio::test]
async fn a_sync_brings_in_what_is_new_and_tells_what_that_was() {
    let base = Base::example();
    // Without background tasks, so that only the request syncs.
    let app = TestApp::still_product_of(&base.tables()).await;
    let first = app.send(post("/api/v1/sources/kb/sync", "")).await;
    assert_eq!((first.status, first.header("cache-control")), (200, "no-store"));
    let report = first.json();
    assert_eq!((&report["source"], &report["added"]["count"]), (&json!("kb"), &json!(9)), "{report}");
    let files = json!({ "published": 9, "drafts": 1, "unpublished": 1, "skipped": 0, "failed": 0 });
    assert_eq!(report["files"], files);

    base.write("tags/new.md", "---\ntitle: New\ndate: 2024-07-01\npublish: true\n---\nNew.\n");
    assert_eq!(app.send(get("/api/v1/entries/tag/new")).await.status, 404);
    let second = app.send(post("/api/v1/sources/kb/sync", "{}")).await.json();
    assert_eq!(second["added"], json!({ "count": 1, "first": ["tags/new.md"] }), "{second}");
    assert_eq!(app.send(get("/api/v1/entries/tag/new")).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let app = Base::example().served().await;
    let long = "x".repeat(10_000);
    for name in ["nothing", "..%2Fkb", "kb%00", "%FF", &long] {
        let answer = app.send(post(&format!("/api/v1/sources/{name}/sync"), "")).await;
        refused(&answer, 404, "NOT_FOUND");
    }
    app.stop().await;
}
