//! What can't be proposed, and by whom.

use serde_json::{Value, json};

use super::{Stage, answer, approved, article, ask, with_key};
use crate::app::{call, modern, post};

#[tokio::test]
async fn what_a_model_must_not_write_is_refused_before_anyone_is_asked() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    let check = async |change: Value, message: &str| {
        let mut arguments = article("On ferries");
        arguments.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refused = ask(&program, &stage.contributor, "create_draft", &arguments).await.unwrap();
        let text = refused["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert!(refused["isError"] == true && text.contains(message), "{change}: {refused}");
    };
    check(json!({ "content": "innocent\u{202E}text" }), "U+202E").await;
    check(json!({ "content": "zero\u{200B}width" }), "U+200B").await;
    check(json!({ "title": "bell\u{7}" }), "U+0007").await;
    check(json!({ "title": "two\nlines" }), "one line").await;
    check(json!({ "title": "fixes https://github.com/acme/kb/issues/1" }), "without a URL").await;
    check(json!({ "title": " " }), "1 to 150").await;
    check(json!({ "content": "---\npublish: true\n---\n" }), "begins with frontmatter").await;
    check(json!({ "content": "x".repeat(70_000) }), "64 KiB").await;
    check(json!({ "fields": { "publish": true } }), "publish is written by the server").await;
    check(json!({ "fields": { "a\nb": 1 } }), "names of fields").await;
    check(json!({ "fields": { "tags": ["\u{2066}x"] } }), "fields.tags").await;
    check(json!({ "fields": { "author": 7 } }), "author").await;
    check(json!({ "contentType": "workflow" }), "contentType").await;
    check(json!({ "contentType": "resource" }), "contentType").await;
    check(json!({ "contentType": "question", "fields": { "status": "maybe" } }), "status").await;
    check(json!({ "contentType": "file", "title": "First", "fields": {} }), "notes/first.md").await;
    check(json!({ "path": ".github/workflows/x.yml" }), "path").await;
    assert_eq!(stage.github.requests(), Vec::<String>::new());

    let save = async |url: &str| {
        let arguments = json!({ "url": url, "title": "A page" });
        ask(&program, &stage.member, "save_link", &arguments).await.unwrap()
    };
    for bad in ["javascript:alert(1)", "https://user:pw@example.org/", "not a url"] {
        assert_eq!(save(bad).await["isError"], true, "{bad}");
    }
}

#[tokio::test]
async fn nothing_is_proposed_without_the_approval_of_this_very_text() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    let arguments = article("On ferries");
    let key = &stage.contributor;
    let question = ask(&program, key, "create_draft", &arguments).await.unwrap();
    let call_of = ("create_draft", &arguments);
    for no in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "approve": false } }),
    ] {
        let refused = answer(&program, key, call_of, &question, &no).await.unwrap();
        assert_eq!(refused["isError"], true, "{refused}");
    }
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    // An answer without the question is asked again.
    let unasked = answer(&program, key, call_of, &json!({}), &yes).await.unwrap();
    assert!(unasked.get("inputRequests").is_some(), "{unasked}");
    // An approval of one text is none of another.
    let other = article("On other ferries");
    let more = json!({ "inputResponses": { "approval": yes }, "requestState": question["requestState"] });
    let forged = program.send(with_key(super::asking("create_draft", &other, &more), key)).await.unwrap();
    assert!(forged.message().get("error").is_some(), "{forged:?}");
    assert_eq!((stage.branches().len(), stage.approvals().len()), (0, 0));

    // A client that can't ask is told so, over MCP and REST.
    let mute = program.send(with_key(call("create_draft", &arguments), key)).await.unwrap().result();
    assert!(mute["content"][0]["text"].as_str().unwrap().contains("elicitation"), "{mute}");
    let body = json!({ "arguments": arguments }).to_string();
    let rest = program.send(with_key(post("/tools/create_draft/call", body), key)).await.unwrap();
    assert_eq!(rest.status, 400, "{rest:?}");
}

#[tokio::test]
async fn tools_are_for_their_tiers_and_only_where_drafts_are_configured() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    let names = async |request| {
        let listed = program.send(request).await.unwrap().result();
        let names =
            listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names
            .filter(|name| ["create_draft", "save_link", "list_drafts"].contains(&name.as_str()))
            .collect::<Vec<_>>()
    };
    let list = || modern("tools/list", &json!({}));
    assert_eq!(
        names(with_key(list(), &stage.contributor)).await,
        ["create_draft", "list_drafts", "save_link"]
    );
    assert_eq!(names(with_key(list(), &stage.member)).await, ["list_drafts", "save_link"]);
    assert_eq!(names(list()).await, [""; 0]);
    let denied = program.send(with_key(call("create_draft", &article("x")), &stage.member)).await.unwrap();
    assert_eq!(denied.status, 403, "{denied:?}");
    drop(program);

    let text = std::fs::read_to_string(stage.folder.path().join("lyceum.toml")).unwrap();
    let (before, rest) = text.split_once("[knowledge.drafts]").unwrap();
    let text = format!("{before}{}", &rest[rest.find("[auth]").unwrap()..]);
    std::fs::write(stage.folder.path().join("lyceum.toml"), text).unwrap();
    let program = stage.start().await;
    let listed = program.send(with_key(list(), &stage.contributor)).await.unwrap().result();
    assert!(!listed.to_string().contains("create_draft"), "{listed}");
    let absent = program.send(with_key(crate::app::get("/api/v1/drafts"), &stage.contributor)).await.unwrap();
    assert_eq!(absent.status, 404, "{absent:?}");
}

#[tokio::test]
async fn a_file_that_github_has_already_is_not_overwritten() {
    let stage = Stage::new().await;
    let program = stage.start().await;
    // The server has not synced it yet.
    stage.kb.write("artifacts/articles/on-ferries.md", "new").unwrap();
    stage.kb.publish().await.unwrap();
    let done = approved(&program, &stage.contributor, "create_draft", &article("On ferries")).await.unwrap();
    let draft = &done["structuredContent"];
    assert_eq!(draft["state"], "failed", "{done}");
    assert!(draft["error"].as_str().unwrap().contains("choose another title"), "{draft}");
    assert_eq!((stage.branches().len(), stage.github.pull_requests("acme/kb").len()), (0, 0));
}
