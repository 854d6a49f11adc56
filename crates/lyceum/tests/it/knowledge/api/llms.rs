//! `GET /llms.txt`.

use super::base::Base;
use crate::app::get;

#[tokio::test]
async fn a_model_finds_every_document_by_type() {
    let app = Base::example().served_with("public_url = \"https://kb.example\"").await;
    let answer = app.send(get("/llms.txt")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/plain; charset=utf-8"));
    insta::assert_snapshot!(answer.text(), @r##"
    # Harbour

    > A knowledge base of 9 documents from Git, served by lyceum.

    Each link below returns a document as JSON, or with the header `Accept: text/markdown` as markdown, with the commit it comes from. Cite documents by title and commit.

    - [All documents](https://kb.example/api/v1/entries?limit=100): paginated by `offset`; filters are `contentType`, `group`, `release`, `status` and `tag`
    - [API](https://kb.example/api/v1/openapi.json): OpenAPI description
    - MCP for assistants: https://kb.example/mcp

    ## article

    - [She said: "no" # \[really\] --- and left](https://kb.example/api/v1/entries/article/odd): Two lines

    ## file

    - [Plain](https://kb.example/api/v1/entries/file/plain): Plain.

    ## pattern

    - [Ämter & Würden](https://kb.example/api/v1/entries/pattern/amter-wurden): Über Ämter.
    - [Cell governance](https://kb.example/api/v1/entries/pattern/cell-governance): Cells govern themselves.

    ## person

    - [Ada](https://kb.example/api/v1/entries/person/ada): She writes.

    ## practice

    - [Check-in](https://kb.example/api/v1/entries/practice/check-in): Say how you are.

    ## project

    - [Harbour](https://kb.example/api/v1/entries/project/harbour): A harbour.

    ## tag

    - [Cell](https://kb.example/api/v1/entries/tag/cell): A small group.
    - [DAO](https://kb.example/api/v1/entries/tag/dao): An organisation of equals.
    "##);
    app.stop().await;
}

#[tokio::test]
async fn of_many_documents_the_newest_are_named_and_the_others_counted() {
    let files: Vec<(String, String)> = (0..103)
        .map(|number| {
            let day = format!("2{number:03}-01-01");
            (
                format!("tags/t{number}.md"),
                format!("---\ntitle: T{number}\ndate: {day}\npublish: true\n---\n"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let app = Base::of(&files).served_with("public_url = \"https://kb.example\"").await;
    let text = app.send(get("/llms.txt")).await.text().to_owned();
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != "## tag").skip(2).collect();
    assert_eq!(lines.len(), 101, "{text}");
    assert_eq!(lines[0], "- [T102](https://kb.example/api/v1/entries/tag/t102)");
    assert_eq!(lines[99], "- [T3](https://kb.example/api/v1/entries/tag/t3)");
    let more = "- and 3 more: [all of type tag](https://kb.example/api/v1/entries?contentType=tag&limit=100)";
    assert_eq!(lines[100], more);
    app.stop().await;
}

#[tokio::test]
async fn every_link_can_be_followed() {
    let app = Base::example().served().await;
    let text = app.send(get("/llms.txt")).await.text().to_owned();
    let here = format!("http://{}", app.addr);
    let links: Vec<&str> =
        text.split(&format!("]({here}")).skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert_eq!(links.len(), 11, "{text}");
    for link in links {
        assert_eq!(app.send(get(link)).await.status, 200, "{link}");
    }
    app.stop().await;
}
