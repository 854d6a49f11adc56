//! Who may read full documents: everyone, members only, or nobody over REST (`[knowledge] api`).

use lyceum::config::KnowledgeApi;
use serde_json::json;

use super::{MEMBER, Stage, address, key, with_token};
use crate::app::{Request, get, modern};

/// Endpoints that return documents or their contents.
const READS: [&str; 4] =
    ["/api/v1/entries/tag/commons", "/api/v1/entries", "/api/v1/search?q=commons", "/llms.txt"];

fn term() -> Request {
    modern("resources/read", &json!({ "uri": "mcp://kb/lexicon/commons" }))
}

#[tokio::test]
async fn s8_where_members_alone_read_nobody_else_does_anywhere() {
    let stage = Stage::read_by(KnowledgeApi::Member, |_| {}).await;
    let public = stage.sign_in(&key(2)).await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let member = stage.sign_in(&key(1)).await;
    let less = stage.sign_in_for("mcp:read", &key(1)).await;
    for path in READS {
        let stranger = stage.app.send(get(path)).await;
        assert_eq!(stranger.status, 401, "{path}: {stranger:?}");
        assert!(stranger.header("www-authenticate").contains("knowledge:read"), "{path}");
        for token in [&public.access, &less.access] {
            let refused = stage.app.send(with_token(get(path), token)).await;
            assert_eq!(refused.status, 403, "{path}: {refused:?}");
            assert_eq!(refused.json()["error"]["code"], "SCOPE_MISSING", "{path}");
        }
        let read = stage.app.send(with_token(get(path), &member.access)).await;
        assert_eq!(read.status, 200, "{path}: {read:?}");
        assert!(!read.header("cache-control").contains("public"), "{path}: {read:?}");
        assert_eq!(read.header("access-control-allow-origin"), "", "{path}");
    }
    assert_eq!(stage.app.send(get("/api/v1/openapi.json")).await.status, 200);
    for request in [term(), with_token(term(), &less.access)] {
        assert_eq!(stage.app.send(request).await.json()["error"]["data"]["error_code"], "NOT_FOUND");
    }
    assert!(stage.app.send(with_token(term(), &member.access)).await.text().contains("text/markdown"));
    let tools = stage.app.send(with_token(get("/tools"), &member.access)).await;
    assert!(!tools.text().contains("open to everyone"), "{tools:?}");
    assert!(!stage.app.send(get("/")).await.text().contains("/api/v1"));
}

#[tokio::test]
async fn s8_where_the_api_is_off_there_is_none() {
    let stage = Stage::read_by(KnowledgeApi::Off, |_| {}).await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let member = stage.sign_in(&key(1)).await;
    for path in READS.into_iter().chain(["/api/v1/openapi.json"]) {
        let answer = stage.app.send(with_token(get(path), &member.access)).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(answer.text().contains("knowledge.api"), "{path}: {answer:?}");
    }
    assert_eq!(stage.app.send(term()).await.json()["error"]["data"]["error_code"], "NOT_FOUND");
    assert!(stage.app.send(with_token(term(), &member.access)).await.text().contains("text/markdown"));
}

#[tokio::test]
async fn s8_where_everyone_reads_the_tools_for_members_do_not_pass_for_a_secret() {
    let stage = Stage::start().await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let member = stage.sign_in(&key(1)).await;
    for path in READS {
        assert_eq!(stage.app.send(get(path)).await.status, 200, "{path}");
    }
    let tools = stage.app.send(with_token(get("/tools"), &member.access)).await.json();
    let described = |name: &str| {
        let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name);
        tool.unwrap()["description"].as_str().unwrap().to_owned()
    };
    for name in ["get_document", "search_with_documents"] {
        assert!(described(name).contains("open to everyone by the REST API"), "{name}");
    }
}

#[tokio::test]
async fn s8_a_token_that_may_not_read_does_not_read_where_everyone_signs_in() {
    let stage = Stage::read_by(KnowledgeApi::Public, |oauth| oauth.anonymous = false).await;
    stage.chain.put_on(&address(&key(1)), super::VIBECODER);
    let refresher = stage.sign_in_for("sources:refresh", &key(1)).await;
    let reader = stage.sign_in_for("knowledge:read", &key(1)).await;
    for path in READS {
        assert_eq!(stage.app.send(get(path)).await.status, 401, "{path}");
        let refused = stage.app.send(with_token(get(path), &refresher.access)).await;
        assert_eq!(refused.status, 403, "{path}: {refused:?}");
        assert!(refused.header("www-authenticate").contains("mcp:read"), "{path}: {refused:?}");
        assert_eq!(stage.app.send(with_token(get(path), &reader.access)).await.status, 200, "{path}");
    }
}
