//! A push changes all responses, and connected clients are notified.

use serde_json::{Value, json};

use super::{
    base::{ask, by_rest},
    stage::{Stage, eventually},
};
use crate::app::{Live, Older, TestApp, modern};

fn term(title: &str, body: &str) -> String {
    format!("---\ntitle: {title}\ndate: 2026-01-01\npublish: true\n---\n\n{body}\n")
}

/// A repository with two terms.
async fn stage() -> Stage {
    let stage = Stage::empty().await;
    stage.kb.write("tags/commons.md", term("Commons", "Shared.")).unwrap();
    stage.kb.write("tags/cell.md", term("Cell", "A small team.")).unwrap();
    stage.kb.publish().await.unwrap();
    stage
}

/// Reads the messages of a stream until the expected one arrives.
async fn hears(stream: &mut Live, method: &str, uri: Option<&str>) {
    for _ in 0..20 {
        let told = stream.event().await.unwrap();
        if told["method"] == method && told["params"].get("uri").and_then(Value::as_str) == uri {
            return;
        }
    }
    panic!("{method} did not arrive");
}

/// Checks the definition of a term over REST and MCP, and its commit.
async fn check_meaning(app: &TestApp, term: &str, definition: Option<&str>, commit: &str) {
    let arguments = json!({ "term": term });
    let (status, rest) = by_rest(app, "define_term", &arguments).await;
    let answer = ask(app, "define_term", &arguments).await;
    assert_eq!((status, &rest["structuredContent"]), (200, &answer));
    match definition {
        Some(definition) => {
            let told = (&answer["definition"], &answer["commit"], &answer["source"]);
            assert_eq!(told, (&json!(definition), &json!(commit), &json!("kb")), "{answer}");
        }
        None => assert_eq!(answer["found"], false, "{answer}"),
    }
}

#[tokio::test]
async fn a_push_changes_the_answers_and_connected_clients_are_told() {
    let stage = stage().await;
    let program = stage.started().await;
    let app = TestApp::elsewhere(program.addr);
    check_meaning(&app, "gift", None, "").await;

    let (list, changed) = ("notifications/resources/list_changed", "notifications/resources/updated");
    let (commons, groups) = ("mcp://test/content/tag/commons", "mcp://test/data/groups");
    let lexicon = "mcp://test/lexicon/commons";
    let wanted = json!({ "resourcesListChanged": true, "resourceSubscriptions": [commons] });
    let mut listening = app.open(modern("subscriptions/listen", &json!({ "notifications": wanted }))).await;
    hears(&mut listening, "notifications/subscriptions/acknowledged", None).await;
    let session = Older::open(&app, "2025-11-25").await;
    let mut stream = app.open(session.stream()).await;
    for uri in [commons, lexicon, groups] {
        let subscribed = app.send(session.request("resources/subscribe", &json!({ "uri": uri }))).await;
        assert_eq!(subscribed.result(), json!({}));
    }

    stage.kb.write("tags/gift.md", term("Gift", "Given freely.")).unwrap();
    stage.kb.write("tags/commons.md", term("Commons", "Shared and cared for.")).unwrap();
    let second = stage.brings_in(&program).await;
    hears(&mut listening, list, None).await;
    hears(&mut listening, changed, Some(commons)).await;
    hears(&mut stream, list, None).await;
    hears(&mut stream, changed, Some(commons)).await;
    hears(&mut stream, changed, Some(lexicon)).await;
    hears(&mut stream, changed, Some(groups)).await;
    check_meaning(&app, "gift", Some("Given freely."), &second).await;
    check_meaning(&app, "commons", Some("Shared and cared for."), &second).await;
    let read = app.send(modern("resources/read", &json!({ "uri": commons }))).await.result();
    let contents = &read["contents"][0];
    assert!(contents["text"].as_str().unwrap().ends_with("Shared and cared for.\n"), "{contents}");
    assert_eq!(contents["_meta"]["lyceum/provenance"]["commit"], second);

    stage.kb.remove("tags/gift.md").unwrap();
    let third = stage.brings_in(&program).await;
    hears(&mut listening, list, None).await;
    hears(&mut stream, list, None).await;
    check_meaning(&app, "gift", None, "").await;
    // An unchanged document still has its own commit.
    check_meaning(&app, "commons", Some("Shared and cared for."), &second).await;
    assert_ne!(second, third);
}

#[tokio::test]
async fn a_changed_document_does_not_change_the_tools() {
    let stage = stage().await;
    let program = stage.started().await;
    let app = TestApp::elsewhere(program.addr);
    eventually("the tools describe the first commit", || async {
        let tools = app.send(modern("tools/list", &json!({}))).await.result().to_string();
        if tools.contains("It holds fewer than 10 documents.") { Ok(()) } else { Err(tools) }
    })
    .await;
    let commons = "mcp://test/content/tag/commons";
    let wanted =
        json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": [commons] });
    let mut listening = app.open(modern("subscriptions/listen", &json!({ "notifications": wanted }))).await;
    hears(&mut listening, "notifications/subscriptions/acknowledged", None).await;
    // What the first commit causes arrives before what the second one does.
    for body in ["Shared and cared for.", "Shared, cared for, and governed together."] {
        stage.kb.write("tags/commons.md", term("Commons", body)).unwrap();
        stage.brings_in(&program).await;
        let told = listening.event().await.unwrap();
        assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    }
    for number in 0..10 {
        stage.kb.write(format!("tags/term-{number}.md"), term(&format!("Term {number}"), "A term.")).unwrap();
    }
    stage.brings_in(&program).await;
    hears(&mut listening, "notifications/tools/list_changed", None).await;
    let tools = app.send(modern("tools/list", &json!({}))).await.result().to_string();
    assert!(tools.contains("It holds at least 10 documents."), "{tools}");
}
