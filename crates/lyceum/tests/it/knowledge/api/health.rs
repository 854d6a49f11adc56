//! Health, readiness and metrics of the knowledge base; and the status page.

use std::fs;

use serde_json::json;

use super::base::{Base, refused, tables, until};
use crate::app::{TestApp, get};

#[tokio::test]
async fn a_knowledge_base_is_told_with_what_is_served_and_what_is_not() {
    let app = Base::example().served().await;
    let health =
        until(&app, "/health", |answer| answer.json()["knowledge"]["pending_objects"] == 0).await.json();
    let expected = json!({
        "documents": 9,
        "files": { "published": 9, "drafts": 1, "unpublished": 1, "skipped": 0, "failed": 0 },
        "pending_objects": 0, "publishing": "frontmatter",
        "failed": [],
    });
    assert_eq!(health["knowledge"], expected);
    assert_eq!(
        (&health["status"], &health["services"]["knowledge"]),
        (&json!("ok"), &json!("ok")),
        "{health}"
    );
    assert_eq!(
        (&health["sources"][0]["name"], &health["sources"][0]["state"]),
        (&json!("kb"), &json!("ready"))
    );
    app.stop().await;
}

#[tokio::test]
async fn requests_wait_until_the_first_sync_is_shown() {
    let app = TestApp::still_product_of(&Base::example().tables()).await;
    let ready = app.send(get("/readyz")).await;
    let expected = json!({ "ready": false, "reasons": ["the knowledge base is being fetched"] });
    assert_eq!((ready.status, ready.json()), (503, expected));
    let health = app.send(get("/health")).await.json();
    assert_eq!(
        (&health["status"], &health["services"]["knowledge"]),
        (&json!("degraded"), &json!("degraded"))
    );
    assert!(app.send(get("/")).await.text().contains("is being fetched"));
    app.stop().await;
}

#[tokio::test]
async fn a_source_that_is_not_there_is_told_and_served_once_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let kb = folder.path().join("kb");
    let app = TestApp::product_of(&tables(&kb)).await;
    let ready = until(&app, "/readyz", |answer| answer.text().contains("can't be read")).await;
    assert_eq!(ready.status, 503);
    let answer = app.send(get("/api/v1/entries")).await;
    let message = refused(&answer, 503, "UNAVAILABLE");
    assert!(message.starts_with("the knowledge base can't be read: "), "{message}");
    assert_eq!((answer.header("retry-after"), answer.header("cache-control")), ("5", "no-store"));
    // Endpoints that need no document are available.
    assert_eq!(app.send(get("/api/v1/openapi.json")).await.status, 200);
    fs::create_dir(&kb).unwrap();
    fs::write(kb.join("one.md"), "---\ntitle: One\ndate: 2024-01-01\npublish: true\n---\nOne.\n").unwrap();
    assert_eq!(app.send(crate::app::post("/api/v1/sources/kb/sync", "")).await.status, 200);
    assert_eq!(app.send(get("/readyz")).await.status, 200);
    assert_eq!(app.send(get("/api/v1/entries/file/one")).await.status, 200);
    app.stop().await;
}

#[tokio::test]
async fn the_first_page_says_what_is_here_and_how_to_read_it() {
    let app = Base::example().served_with("public_url = \"https://kb.example\"").await;
    let page = app.send(get("/")).await;
    assert!(page.header("content-type").starts_with("text/plain"));
    let commit = app.send(get("/health")).await.json()["sources"][0]["commit"].as_str().unwrap().to_owned();
    for words in [
        &format!("Harbour: 9 documents, commit {commit}, synced at 2"),
        "       2  pattern\n",
        "       1  person\n",
        "https://kb.example/mcp",
        "https://kb.example/api/v1/entries?limit=100",
        "https://kb.example/llms.txt",
        "https://kb.example/api/v1/openapi.json",
        "curl -H 'Accept: text/markdown' https://kb.example/api/v1/entries/project/harbour",
    ] {
        assert!(page.text().contains(words), "no {words:?} in\n{}", page.text());
    }
    app.stop().await;
}

#[tokio::test]
async fn requests_are_counted_by_route_and_not_by_document() {
    let app = Base::example().served().await;
    for path in
        ["/api/v1/entries/tag/dao", "/api/v1/entries/tag/cell", "/api/v1/entries?limit=1", "/llms.txt"]
    {
        app.send(get(path)).await;
    }
    let metrics = app.send(get("/metrics")).await.text().to_owned();
    for (route, count) in
        [("/api/v1/entries/{contentType}/{*id}", 2), ("/api/v1/entries", 1), ("/llms.txt", 1)]
    {
        let line = format!(
            "http_server_request_duration_seconds_count{{http_request_method=\"GET\",http_route=\"{route}\",http_response_status_code=\"200\"}} {count}"
        );
        assert!(metrics.lines().any(|found| found == line), "no {line} in\n{metrics}");
    }
    app.stop().await;
}

#[tokio::test]
async fn metrics_tell_the_age_of_a_source_and_what_is_queued() {
    let app = Base::example().served().await;
    until(&app, "/metrics", |answer| answer.text().contains("lyceum_source_synced_timestamp_seconds{")).await;
    let synced_at = app.send(get("/health")).await.json()["sources"][0]["synced_at"].clone();
    let synced_at: jiff::Timestamp = synced_at.as_str().unwrap().parse().unwrap();
    let metrics = app.send(get("/metrics")).await.text().to_owned();
    let (name, second) = ("lyceum_source_synced_timestamp_seconds", synced_at.as_second());
    assert!(
        metrics.lines().any(|line| line.starts_with(name) && line.ends_with(&second.to_string())),
        "{metrics}"
    );
    for kind in ["service=\"knowledge\",kind=\"objects\"", "service=\"search\",kind=\"embeddings\""] {
        assert!(metrics.contains(&format!("lyceum_pending{{{kind}}} ")), "{metrics}");
    }
    app.stop().await;
}

/// K-5.3: `/health` reported `ready` with nothing pending up to 120 ms before a new document was found.
#[tokio::test]
async fn an_index_that_is_ready_finds_every_document_that_is_counted() {
    let app = Base::example().served().await;
    for number in 0..5 {
        let word = format!("quokka{number}");
        let text = format!("---\ntitle: About {word}\npublish: true\n---\n\nA text on the {word}.\n");
        app.base.write(&format!("notes/{word}.md"), &text);
        until(&app, "/health", |answer| {
            let health = answer.json();
            health["knowledge"]["documents"] == 10 + number && health["search"]["state"] == "ready"
        })
        .await;
        let found = app.send(get(&format!("/api/v1/search?q={word}"))).await.json();
        assert!(found["results"][0]["id"].as_str().is_some_and(|id| id.contains(&word)), "{found}");
    }
    app.stop().await;
}
