//! A document as markdown, for agents without tools.

use super::base::{Base, with};
use crate::app::{Response, TestApp, get};

async fn read(app: &TestApp, path: &str, accept: &str) -> Response {
    app.send(with(get(&format!("/api/v1/entries/{path}")), "accept", accept)).await
}

#[tokio::test]
async fn a_document_is_markdown_below_where_it_comes_from() {
    let app = Base::example().served().await;
    let answer = read(&app, "pattern/amter-wurden", "text/markdown").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/markdown; charset=utf-8"));
    let json = read(&app, "pattern/amter-wurden", "application/json").await.json();
    let (commit, synced_at) = (json["commitSha"].as_str().unwrap(), json["syncedAt"].as_str().unwrap());
    let expected = format!(
        "---\nid: \"amter-wurden\"\ncontentType: \"pattern\"\ntitle: \"Ämter & Würden\"\nsource: \"kb\"\n\
         path: \"artifacts/patterns/Ämter & Würden.md\"\ncommit: \"{commit}\"\nsynced_at: \"{synced_at}\"\nurl: null\n\
         ---\n\nÜber Ämter.\n"
    );
    assert_eq!(answer.text(), expected);
    app.stop().await;
}

#[tokio::test]
async fn a_title_can_not_break_out_of_its_line() {
    let app = Base::example().served().await;
    let text = read(&app, "article/odd", "text/markdown").await.text().to_owned();
    let (_, rest) = text.split_once("---\n").unwrap();
    let (block, body) = rest.split_once("\n---\n\n").unwrap();
    assert_eq!((block.lines().count(), body), (8, "Odd.\n"), "{text}");
    let line = block.lines().find_map(|line| line.strip_prefix("title: ")).unwrap();
    assert_eq!(line, r#""She said: \"no\" # [really]\n--- and left""#);
    app.stop().await;
}

#[tokio::test]
async fn the_form_is_the_one_that_is_wanted_most() {
    let app = Base::example().served().await;
    let (json, markdown, plain) =
        ("application/json", "text/markdown; charset=utf-8", "text/plain; charset=utf-8");
    for (accept, kind) in [
        ("*/*", json),
        ("image/png", json),
        ("text/markdown;q=0.5, application/json", json),
        ("text/markdown, text/html, */*", markdown),
        ("text/markdown, application/json;q=0.9", markdown),
        ("text/plain", plain),
    ] {
        let answer = read(&app, "tag/dao", accept).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, kind), "{accept}");
        assert_eq!(answer.header("vary"), "Accept");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_refusal_is_json_whatever_is_wanted() {
    let app = Base::example().served().await;
    let answer = read(&app, "tag/nothing", "text/markdown").await;
    assert_eq!((answer.status, answer.header("content-type")), (404, "application/json"));
    app.stop().await;
}
