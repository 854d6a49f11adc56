//! Drafts and unpublished documents don't leak: not through lists, documents, indexes, pages, counts or ETags.

use super::base::{Base, CANARY, refused, until, with};
use crate::app::{TestApp, get};

/// Everything that can be read without knowing a name.
const PAGES: [&str; 8] = [
    "/",
    "/health",
    "/readyz",
    "/llms.txt",
    "/api/v1/openapi.json",
    "/api/v1/entries?limit=100",
    "/api/v1/entries?contentType=pattern",
    "/tools",
];

/// Checks that no response contains the word.
async fn check_unseen(app: &TestApp) {
    for path in PAGES {
        let answer = app.send(get(path)).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text().contains(CANARY), "{path} shows what is not published: {}", answer.text());
    }
    for filter in ["group", "tag", "release", "status"] {
        let list = app.send(get(&format!("/api/v1/entries?{filter}={CANARY}"))).await.json();
        assert_eq!(list["total"], 0, "{filter}: {list}");
    }
    for path in [format!("/api/v1/entries/pattern/{CANARY}"), format!("/api/v1/entries/file/{CANARY}")] {
        for accept in ["application/json", "text/markdown"] {
            // An ETag must not reveal that something exists, either.
            let answer = app.send(with(with(get(&path), "accept", accept), "if-none-match", "*")).await;
            refused(&answer, 404, "NOT_FOUND");
            assert_eq!(answer.header("etag"), "");
        }
    }
}

#[tokio::test]
async fn what_is_not_published_is_nowhere() {
    let app = Base::example().served().await;
    check_unseen(&app).await;
    app.stop().await;
}

#[tokio::test]
async fn what_is_taken_back_is_gone_everywhere() {
    let app = Base::example().served().await;
    let path = format!("/api/v1/entries/pattern/{CANARY}");
    let text = |state: &str| format!("---\ntitle: {CANARY}\ndate: 2024-06-01\n{state}\n---\n{CANARY}\n");
    let file = format!("artifacts/patterns/{CANARY}.md");
    for taken_back in ["publish: false", "publish: true\ndraft: true", "title: again"] {
        app.base.write(&file, &text("publish: true"));
        let shown = until(&app, &path, |answer| answer.status == 200).await;
        app.base.write(&file, &text(taken_back));
        until(&app, &path, |answer| answer.status == 404).await;
        let kept = with(get(&path), "if-none-match", shown.header("etag"));
        refused(&app.send(kept).await, 404, "NOT_FOUND");
        check_unseen(&app).await;
    }
    app.base.write(&file, &text("publish: true"));
    until(&app, &path, |answer| answer.status == 200).await;
    app.base.remove(&file);
    until(&app, &path, |answer| answer.status == 404).await;
    check_unseen(&app).await;
    app.stop().await;
}
