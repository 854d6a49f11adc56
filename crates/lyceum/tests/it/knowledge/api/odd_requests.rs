//! Malicious requests are rejected, and never cause a server error.

use super::base::{Base, by, refused};
use crate::app::{TestApp, get};

/// Sends a raw target, and checks that the response is a client error.
async fn check_refused(app: &TestApp, target: &str) {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", app.addr);
    let status = app.raw(request.as_bytes()).await.status;
    assert!((400..500).contains(&status), "{status} for {target:.100}");
}

#[tokio::test]
async fn an_odd_id_finds_nothing() {
    let app = Base::example().served().await;
    let long = "a".repeat(10 * 1024);
    let ids = [
        "../dao",
        "..%2fdao",
        "%2e%2e%2fdao",
        "..%5cdao",
        "%00",
        "dao%00",
        "dao%00.md",
        "dao.json",
        "dao/",
        "/dao",
        "dao%2f",
        "%ff%fe",
        "%",
        "%zz",
        "dao%20",
        "+",
        "dao?x",
        "*",
        "%F0%9F%8C%8D",
        "dao%0d%0aSet-Cookie:%20a=b",
        "{id}",
        "CON",
        &long,
    ];
    for id in ids.iter().filter(|id| **id != "dao?x") {
        check_refused(&app, &format!("/api/v1/entries/tag/{id}")).await;
        check_refused(&app, &format!("/api/v1/entries/{id}/dao")).await;
    }
    check_refused(&app, "/api/v1/entries/../entries/tag/nothing").await;
    check_refused(&app, "/api/v1/entries//tag/dao").await;
    check_refused(&app, "/api/v1//entries").await;
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn an_odd_query_is_refused_or_finds_nothing() {
    let app = Base::example().served().await;
    let long = "x".repeat(60_000);
    for query in ["limit=1%00", "limit[]=1", "contentType=..%2F..", "offset=1e400", "tag=%FF", "group=%C3%28"]
    {
        let status = app.send(get(&format!("/api/v1/entries?{query}"))).await.status;
        assert!(status == 400 || query.starts_with("limit[]"), "{status} for {query}");
    }
    for query in [format!("group={long}"), "group=%00".into(), "tag=%00,%0A".into(), "=&=&==&%".into()] {
        assert_eq!(app.send(get(&format!("/api/v1/entries?{query}"))).await.status, 200);
    }
    let many = "a,".repeat(30_000);
    refused(&app.send(get(&format!("/api/v1/entries?tag={many}"))).await, 400, "VALIDATION_ERROR");
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn another_method_is_told_which_there_are() {
    let app = Base::example().served().await;
    for path in ["/api/v1/entries", "/api/v1/entries/tag/dao", "/api/v1/openapi.json", "/llms.txt"] {
        for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"] {
            let answer = app.send(by(method, get(path))).await;
            refused(&answer, 405, "METHOD_NOT_ALLOWED");
            assert_eq!(answer.header("allow"), "GET,HEAD", "{method} {path}");
        }
    }
    let answer = app.send(get("/api/v1/sources/kb/sync")).await;
    refused(&answer, 405, "METHOD_NOT_ALLOWED");
    assert_eq!(answer.header("allow"), "POST");
    app.stop().await;
}

#[tokio::test]
async fn a_path_that_is_none_says_where_the_paths_are() {
    let app = Base::example().served().await;
    for path in [
        "/api/v1",
        "/api/v1/",
        "/api/v1/nothing",
        "/api/v1/entries/",
        "/api/v1/entries/tag",
        "/api/v1/search/x/y",
    ] {
        let message = refused(&app.send(get(path)).await, 404, "NOT_FOUND");
        assert!(message.contains("/api/v1/openapi.json"), "{path}: {message}");
    }
    app.stop().await;
}

/// K-8: `details.field` names the invalid parameter, also if it is missing.
#[tokio::test]
async fn a_missing_question_is_named_in_the_details() {
    let app = Base::example().served().await;
    for path in ["/api/v1/search", "/api/v1/search?limit=3"] {
        let answer = app.send(get(path)).await;
        let message = refused(&answer, 400, "INVALID_QUERY");
        assert!(message.starts_with("q: "), "{message}");
        assert_eq!(answer.json()["error"]["details"]["field"], "q");
    }
    app.stop().await;
}
