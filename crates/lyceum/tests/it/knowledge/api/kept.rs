//! Caching: `ETag`, `If-None-Match`, `Cache-Control`, and HEAD.

use super::base::{Base, by, until, with};
use crate::app::{Response, TestApp, get};

const PATHS: [&str; 5] = [
    "/api/v1/entries",
    "/api/v1/entries?tag=governance",
    "/api/v1/entries/tag/dao",
    "/api/v1/openapi.json",
    "/llms.txt",
];

/// Requests something with `If-None-Match`.
async fn again(app: &TestApp, path: &str, tags: &str) -> Response {
    app.send(with(get(path), "if-none-match", tags)).await
}

#[tokio::test]
async fn what_the_client_has_is_not_sent_again() {
    let app = Base::example().served().await;
    for path in PATHS {
        let first = app.send(get(path)).await;
        let tag = first.header("etag").to_owned();
        assert!(
            first.status == 200 && tag.starts_with('"') && tag.ends_with('"') && tag.len() > 10,
            "{first:?}"
        );
        for known in [
            tag.clone(),
            format!("W/{tag}"),
            format!("\"other\", {tag}"),
            format!("W/\"a\",W/{tag} "),
            "*".into(),
        ] {
            let answer = again(&app, path, &known).await;
            assert_eq!((answer.status, answer.text()), (304, ""), "{path} {known}");
            for header in ["etag", "cache-control", "vary", "access-control-allow-origin"] {
                assert_eq!(answer.header(header), first.header(header), "{path} {header}");
            }
        }
        for unknown in ["\"other\"", "", tag.trim_matches('"'), "W/"] {
            assert_eq!(again(&app, path, unknown).await.status, 200, "{path} {unknown:?}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn good_answers_may_be_kept_and_refusals_may_not() {
    let app = Base::example().served().await;
    for path in PATHS {
        let answer = app.send(get(path)).await;
        assert_eq!(
            answer.header("cache-control"),
            "public, max-age=300, stale-while-revalidate=3600",
            "{path}"
        );
    }
    for path in ["/api/v1/entries?limit=0", "/api/v1/entries/tag/nothing", "/api/v1/nothing"] {
        let answer = app.send(get(path)).await;
        assert_eq!((answer.header("cache-control"), answer.header("etag")), ("no-store", ""), "{path}");
    }
    app.stop().await;
}

#[tokio::test]
async fn each_query_and_each_form_has_a_tag_of_its_own() {
    let app = Base::example().served().await;
    let mut tags = std::collections::BTreeSet::new();
    for query in
        ["", "?limit=2", "?limit=2&offset=2", "?limit=100", "?contentType=tag", "?contentType=pattern"]
    {
        tags.insert(app.send(get(&format!("/api/v1/entries{query}"))).await.header("etag").to_owned());
    }
    for accept in ["application/json", "text/markdown", "text/plain"] {
        let answer = app.send(with(get("/api/v1/entries/tag/dao"), "accept", accept)).await;
        assert_eq!(answer.header("vary"), "Accept");
        tags.insert(answer.header("etag").to_owned());
    }
    assert_eq!(tags.len(), 9, "{tags:?}");
    app.stop().await;
}

#[tokio::test]
async fn a_change_gives_a_new_tag_to_what_it_touches_alone() {
    let app = Base::example().served().await;
    let tag = async |path: &str| app.send(get(path)).await.header("etag").to_owned();
    let paths = [
        "/api/v1/entries",
        "/api/v1/entries/tag/dao",
        "/api/v1/entries?contentType=person",
        "/api/v1/entries/person/ada",
    ];
    let mut before = Vec::new();
    for path in paths {
        before.push(tag(path).await);
    }
    app.base.write("tags/dao.md", "---\ntitle: DAO\ndate: 2024-01-15\npublish: true\n---\nAnother text.\n");
    until(&app, paths[1], |answer| answer.text().contains("Another text.")).await;
    for (path, (before, changed)) in paths.iter().zip(before.iter().zip([true, true, false, false])) {
        let status = again(&app, path, before).await.status;
        assert_eq!(status, if changed { 200 } else { 304 }, "{path}");
    }
    app.stop().await;
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let app = Base::example().served().await;
    for path in
        PATHS.iter().chain(&["/api/v1/entries?limit=0", "/api/v1/entries/tag/nothing", "/api/v1/nothing"])
    {
        let (whole, head) = (app.send(get(path)).await, app.send(by("HEAD", get(path))).await);
        assert_eq!((head.status, head.text()), (whole.status, ""), "{path}");
        assert_eq!(whole.header("content-length"), whole.body.len().to_string(), "{path}");
        let of = |answer: &Response| {
            let mut headers = answer.headers.clone();
            headers.remove("x-request-id");
            headers.remove("date");
            headers
        };
        assert_eq!(of(&head), of(&whole), "{path}");
    }
    let head = by("HEAD", with(get("/api/v1/entries"), "if-none-match", "*"));
    assert_eq!(app.send(head).await.status, 304);
    app.stop().await;
}
