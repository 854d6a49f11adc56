//! A knowledge base with `public = "nothing"`, beside one that is public: strangers are not told that it exists.

use lyceum_knowledge::PublicContent;
use serde_json::json;

use super::{MEMBER, Stage, address, key, with_example, with_token};
use crate::app::{Older, Request, call, get, modern};

/// A server with a public knowledge base, and one that strangers may not know of.
async fn with_a_hidden_one() -> (Stage, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tags")).unwrap();
    let text = "---\ntitle: Sapphire\npublish: true\n---\nBehind the third brick.\n";
    std::fs::write(folder.path().join("tags/sapphire.md"), text).unwrap();
    let more = format!(
        "\n[[source]]\nname = \"cellar\"\npath = {:?}\n[knowledge.vault]\nsource = \"cellar\"\ntitle = \"Strongroom\"\n",
        folder.path()
    );
    let tables = format!("{}{more}", with_example(""));
    let public = |name: &str| match name {
        "vault" => PublicContent::Nothing,
        _ => PublicContent::Summaries,
    };
    (Stage::made(&tables, public, |_| {}).await.registered().await, folder)
}

/// What is said to everyone: pages, health, discovery, handshakes, lists, and the built-in tool.
fn told_to_everyone() -> Vec<Request> {
    let pages = [
        "/",
        "/health",
        "/readyz",
        "/metrics",
        "/tools",
        "/llms.txt",
        "/api/v1/openapi.json",
        "/api/v1/entries?limit=100",
        "/api/v1/search?q=sapphire",
        "/.well-known/ai-catalog.json",
        "/mcp/server-card",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
    ];
    let methods =
        ["server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    let older = Older::initialize("2025-11-25", &json!({}));
    let mut requests: Vec<Request> = pages.into_iter().map(get).collect();
    requests.extend(methods.map(|method| modern(method, &json!({}))));
    requests.extend([call("server_info", &json!({})), older]);
    requests
}

#[tokio::test]
async fn s8_strangers_are_not_told_of_a_knowledge_base_of_which_nothing_is_public() {
    let (stage, _folder) = with_a_hidden_one().await;
    stage.chain.put_on(&address(&key(1)), MEMBER);
    let member = stage.sign_in(&key(1)).await.access;
    let public = stage.sign_in(&key(2)).await.access;
    for request in told_to_everyone() {
        for token in [None, Some(&public)] {
            let request = token.map_or(request.clone(), |token| with_token(request.clone(), token));
            let (path, answer) = (request.uri().path().to_owned(), stage.app.send(request).await);
            let text = answer.text().to_lowercase();
            for word in ["strongroom", "vault", "cellar", "sapphire", "brick"] {
                assert!(!text.contains(word), "{path} tells of {word}: {answer:?}");
            }
        }
    }
    assert_eq!(stage.app.send(get("/vault/mcp/server-card")).await.status, 404);
    for path in ["/vault/api/v1/entries", "/vault/llms.txt", "/vault/api/v1/openapi.json"] {
        assert_eq!(stage.app.send(get(path)).await.status, 401, "{path}");
        assert_eq!(stage.app.send(with_token(get(path), &member)).await.status, 200, "{path}");
    }
    // A member is told of it in every one of these.
    let discover = modern("server/discover", &json!({}));
    let older = Older::initialize("2025-11-25", &json!({}));
    let info = call("server_info", &json!({}));
    for (request, word) in
        [(get("/"), "Strongroom"), (discover, "Strongroom"), (older, "Strongroom"), (info, "cellar")]
    {
        let answer = stage.app.send(with_token(request, &member)).await;
        assert!(answer.text().contains(word), "{answer:?}");
    }
    // What is shown of the other one is as before.
    let page = stage.app.send(get("/")).await;
    assert!(page.text().contains("The knowledge base kb"), "{}", page.text());
    assert!(!page.text().contains("One document"), "it could not be read: {}", page.text());
    assert_eq!(stage.app.send(get("/health")).await.json(), json!({ "status": "ok" }));
    assert_eq!(stage.app.send(get("/metrics")).await.status, 403);
}
