//! `GET /api/v1/entries` and `GET /api/v1/entries/{contentType}/{id}`.

use serde_json::json;

use super::base::{Base, ids, refused};
use crate::app::{Settings, TestApp, get};

/// Checks which entries a query finds, and their total.
async fn check(app: &TestApp, query: &str, expected: &[&str], total: usize) {
    let answer = app.send(get(&format!("/api/v1/entries?{query}"))).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{query}");
    let list = answer.json();
    assert_eq!(ids(&list), expected, "{query}");
    assert_eq!(list["total"], total, "{query}");
}

/// Checks that a query is rejected because of a field, with those words.
async fn check_refused(app: &TestApp, query: &str, field: &str, words: &str) {
    let answer = app.send(get(&format!("/api/v1/entries?{query}"))).await;
    let message = refused(&answer, 400, "VALIDATION_ERROR");
    assert_eq!(answer.json()["error"]["details"], json!({ "field": field }), "{query}");
    assert!(message.contains(words), "{query}: {message}");
}

#[tokio::test]
async fn a_list_tells_what_is_known_of_each_document() {
    let app = Base::example().served().await;
    let list = app.send(get("/api/v1/entries?contentType=tag&limit=5")).await.json();
    insta::assert_json_snapshot!(list, {
        ".entries[].commitSha" => "[commit]", ".entries[].syncedAt" => "[time]"
    }, @r#"
    {
      "entries": [
        {
          "commitSha": "[commit]",
          "contentType": "tag",
          "date": "2024-01-16",
          "description": "A small group.",
          "group": null,
          "id": "cell",
          "path": "tags/cell.md",
          "release": null,
          "status": null,
          "syncedAt": "[time]",
          "tags": [],
          "title": "Cell",
          "url": null
        },
        {
          "commitSha": "[commit]",
          "contentType": "tag",
          "date": "2024-01-15",
          "description": "An organisation of equals.",
          "group": null,
          "id": "dao",
          "path": "tags/dao.md",
          "release": null,
          "status": null,
          "syncedAt": "[time]",
          "tags": [
            "governance",
            "größe"
          ],
          "title": "DAO",
          "url": null
        }
      ],
      "limit": 5,
      "offset": 0,
      "total": 2
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn filters_find_what_fits_all_of_them() {
    let app = Base::example().served().await;
    let every =
        ["harbour", "ada", "odd", "check-in", "amter-wurden", "cell-governance", "cell", "dao", "plain"];
    check(&app, "", &every, 9).await;
    check(&app, "contentType=file", &every, 9).await;
    check(&app, "contentType=resource", &["check-in", "amter-wurden", "cell-governance"], 3).await;
    check(&app, "contentType=pattern", &["amter-wurden", "cell-governance"], 2).await;
    check(&app, "contentType=gathering", &[], 0).await;
    check(&app, "group=dao-primitives", &["amter-wurden", "cell-governance"], 2).await;
    check(&app, "group=DAO-primitives", &[], 0).await;
    check(&app, "release=first", &["check-in", "cell-governance"], 2).await;
    check(&app, "release=first&contentType=pattern&group=dao-primitives", &["cell-governance"], 1).await;
    check(&app, "status=active", &["harbour"], 1).await;
    check(&app, "tag=governance", &["cell-governance", "dao"], 2).await;
    check(&app, "tag=gr%C3%B6%C3%9Fe", &["amter-wurden", "dao"], 2).await;
    let either = ["amter-wurden", "cell-governance", "dao"];
    check(&app, "tag=governance&tag=gr%C3%B6%C3%9Fe", &either, 3).await;
    check(&app, "tag=governance,gr%C3%B6%C3%9Fe,nothing", &either, 3).await;
    check(&app, "unknown=1&group=harbour", &["harbour"], 1).await;
    app.stop().await;
}

#[tokio::test]
async fn a_list_comes_in_pages() {
    let app = Base::example().served().await;
    check(&app, "limit=2", &["harbour", "ada"], 9).await;
    check(&app, "limit=2&offset=2", &["odd", "check-in"], 9).await;
    check(&app, "limit=2&offset=8", &["plain"], 9).await;
    check(&app, "limit=100&offset=9", &[], 9).await;
    check(&app, "offset=9007199254740991", &[], 9).await;
    check(&app, "contentType=resource&limit=1&offset=1", &["amter-wurden"], 3).await;
    let list = app.send(get("/api/v1/entries?limit=3&offset=1")).await.json();
    assert_eq!((&list["limit"], &list["offset"]), (&json!(3), &json!(1)));
    let list = app.send(get("/api/v1/entries")).await.json();
    assert_eq!((&list["limit"], &list["offset"]), (&json!(20), &json!(0)));
    app.stop().await;
}

#[tokio::test]
async fn a_value_that_is_no_good_is_refused_with_its_field_and_what_to_write() {
    let app = Base::example().served().await;
    check_refused(&app, "limit=0", "limit", "must be an integer from 1 to 100, such as limit=20").await;
    check_refused(&app, "limit=101", "limit", "from 1 to 100").await;
    check_refused(&app, "offset=-1", "offset", "such as offset=0").await;
    check_refused(&app, "contentType=patterns", "contentType", "\"patterns\"; use one of article, data")
        .await;
    check_refused(&app, "group=", "group", "omit it").await;
    check_refused(&app, "tag=,", "tag", "tag=one,two").await;
    check_refused(&app, "group=a&group=b", "group", "write it once").await;
    check_refused(&app, "release=%FF", "release", "UTF-8").await;
    app.stop().await;
}

#[tokio::test]
async fn a_document_is_sent_whole() {
    let app = Base::example().served().await;
    let answer = app.send(get("/api/v1/entries/pattern/amter-wurden")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    insta::assert_json_snapshot!(answer.json(), { ".commitSha" => "[commit]", ".syncedAt" => "[time]" }, @r#"
    {
      "commitSha": "[commit]",
      "content": "Über Ämter.\n",
      "contentType": "pattern",
      "id": "amter-wurden",
      "metadata": {
        "date": "2024-02-02",
        "group": "dao-primitives",
        "publish": true,
        "tags": [
          "größe"
        ],
        "title": "Ämter & Würden"
      },
      "path": "artifacts/patterns/Ämter & Würden.md",
      "source": "kb",
      "syncedAt": "[time]",
      "url": null
    }
    "#);
    let list = app.send(get("/api/v1/entries?contentType=pattern&limit=1")).await.json();
    for field in ["id", "contentType", "path", "commitSha", "syncedAt", "url"] {
        assert_eq!(list["entries"][0][field], answer.json()[field], "{field}");
    }
    // Percent-encoded letters are equivalent.
    let escaped = app.send(get("/api/v1/entries/p%61ttern/amter%2Dwurden")).await;
    assert_eq!((escaped.status, escaped.body), (200, answer.body));
    app.stop().await;
}

#[tokio::test]
async fn a_document_is_under_its_own_type_alone() {
    let app = Base::example().served().await;
    for path in
        ["practice/cell-governance", "resource/cell-governance", "tag/nothing", "pattern/Cell-Governance"]
    {
        let answer = app.send(get(&format!("/api/v1/entries/{path}"))).await;
        let message = refused(&answer, 404, "NOT_FOUND");
        assert!(message.contains("GET /api/v1/entries?contentType="), "{message}");
    }
    let answer = app.send(get("/api/v1/entries/patterns/cell-governance")).await;
    assert!(refused(&answer, 400, "VALIDATION_ERROR").contains("use one of article, data"));
    app.stop().await;
}

#[tokio::test]
async fn without_a_knowledge_base_the_way_to_one_is_told() {
    let app = TestApp::product(Settings::default()).await;
    for path in [
        "/api/v1",
        "/api/v1/entries",
        "/api/v1/entries/tag/dao",
        "/api/v1/openapi.json",
        "/llms.txt",
        "/api/v1/x",
    ] {
        let message = refused(&app.send(get(path)).await, 404, "NOT_FOUND");
        assert!(message.contains("[knowledge]") && message.contains("lyceum.toml"), "{path}: {message}");
    }
    app.stop().await;
}
