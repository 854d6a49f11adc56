//! The status of the source of the skills: `server_info`, `/health` and `/readyz`.

use serde_json::{Value, json};

use super::{Folder, ask, folder::skill, repository::Repository, serving, watching};
use crate::app::{TestApp, get};

/// A source without its time, which must exist.
fn without_time(source: &Value) -> Value {
    let mut source = source.clone();
    let time = source["synced_at"].take();
    assert!(time.as_str().is_some_and(|time| time.ends_with('Z')), "{time}");
    source
}

async fn check_source(app: &TestApp, expected: Value) {
    let info = ask(app, "server_info", json!({})).await;
    assert_eq!(info["services"], json!(["server", "skills"]));
    assert_eq!(without_time(&info["sources"][0]), expected, "server_info");
    let health = app.send(get("/health")).await.json();
    assert_eq!(
        (health["sources"].clone(), &health["status"]),
        (info["sources"].clone(), &json!("ok")),
        "/health"
    );
    assert_eq!(health["services"], json!({ "server": "ok", "skills": "ok" }));
}

#[tokio::test]
async fn a_folder_is_ready_at_once() {
    let folder = Folder::example();
    let app = serving(&folder, "").await;
    let source = json!({ "name": "skills", "state": "ready", "commit": null, "synced_at": null });
    check_source(&app, source).await;
    let ready = app.send(get("/readyz")).await;
    let expected = json!({ "ready": true, "reasons": [], "scripts": { "enabled": false } });
    assert_eq!((ready.status, ready.json()), (200, expected));
    app.stop().await;
}

#[tokio::test]
async fn a_repository_is_told_with_its_commit() {
    let repository = Repository::of(&[("skills/one.md", &skill("one", "1"))]);
    let commit = repository.commit(&[("skills/two.md", &skill("two", "2"))]);
    let tables =
        format!("[[source]]\nname = \"team\"\nurl = {:?}\n[skills]\nsource = \"team\"\n", repository.url());
    let app = TestApp::product_of(&tables).await;
    ask(&app, "get_skill", json!({ "context": "one" })).await;
    let source = json!({ "name": "team", "state": "ready", "commit": commit, "synced_at": null });
    super::eventually("the catalog has the commit", || async {
        let info = ask(&app, "server_info", json!({})).await;
        (info["sources"][0]["state"] == "ready", info)
    })
    .await;
    check_source(&app, source).await;
    app.stop().await;
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_told_everywhere_and_the_server_stays_up() {
    let folder = Folder::empty();
    folder.rename("", "../away");
    let app = watching(&folder).await;
    let error = "no such folder; check its path";
    let ready = app.send(get("/readyz")).await;
    let expected = json!({ "ready": false, "reasons": [format!("cannot read the skills: {error}")] });
    assert_eq!((ready.status, ready.json()), (503, expected));
    let health = app.send(get("/health")).await.json();
    let source =
        json!([{ "name": "skills", "state": "failed", "commit": null, "synced_at": null, "error": error }]);
    assert_eq!((&health["status"], &health["sources"]), (&json!("degraded"), &source));
    let text = format!("cannot read the skills: {error}");
    super::check_refused(&app, "get_skill", json!({ "context": "one" }), "UNAVAILABLE", &text).await;
    assert_eq!(app.send(get("/livez")).await.status, 200);
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn sources_that_are_not_for_skills_stay_as_they_are() {
    let folder = Folder::example();
    let app = serving(&folder, "[[source]]\nname = \"kb\"\npath = \"/nowhere\"\n").await;
    let sources = app.send(get("/health")).await.json()["sources"].clone();
    let states: Vec<_> =
        sources.as_array().unwrap().iter().map(|one| (&one["name"], &one["state"])).collect();
    let (ready, pending) = (json!("ready"), json!("pending"));
    assert_eq!(states, [(&json!("skills"), &ready), (&json!("kb"), &pending)]);
    app.stop().await;
}
