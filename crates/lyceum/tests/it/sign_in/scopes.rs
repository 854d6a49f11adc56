//! A client may do only what the user granted, whatever the user may do.

use serde_json::{Value, json};

use super::{Stage, VIBECODER, address, key, with_token};
use crate::app::{Request, call, get, modern};

/// A document of the example, by its path and by a tool.
fn by_address() -> Request {
    modern("resources/read", &json!({ "uri": "mcp://kb/content/pattern/write-the-why" }))
}

fn by_tool() -> Request {
    call("get_document", &json!({ "contentType": "pattern", "id": "write-the-why" }))
}

/// Completion of document ids.
fn completed() -> Request {
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "mcp://kb/content/{contentType}/{id}" },
        "argument": { "name": "id", "value": "" },
    });
    modern("completion/complete", &params)
}

async fn vibecoder() -> Stage {
    let stage = Stage::start().await;
    stage.chain.put_on(&address(&key(1)), VIBECODER);
    stage
}

#[tokio::test]
async fn s7_a_grant_without_knowledge_read_reads_no_whole_document() {
    let stage = vibecoder().await;
    for scopes in ["sources:refresh", "skills:run", "mcp:read", "mcp:read sources:refresh skills:run"] {
        let tokens = stage.sign_in_for(scopes, &key(1)).await;
        let send = async |request| stage.app.send(with_token(request, &tokens.access)).await;
        let read = send(by_address()).await;
        assert_eq!(read.json()["error"]["data"]["error_code"], "NOT_FOUND", "{scopes}: {read:?}");
        assert_eq!(send(by_tool()).await.status, 403, "{scopes}");
        let ids = send(completed()).await;
        assert_eq!(ids.json()["error"]["data"]["error_code"], "NOT_FOUND", "{scopes}: {ids:?}");
    }
    let tokens = stage.sign_in_for("knowledge:read", &key(1)).await;
    let read = stage.app.send(with_token(by_address(), &tokens.access)).await;
    assert!(read.text().contains("text/markdown"), "{read:?}");
    assert_eq!(stage.app.send(with_token(by_tool(), &tokens.access)).await.status, 200);
}

/// The same with skills in addition to the knowledge base.
async fn with_skills() -> (Stage, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), "---\nkeywords: [a]\n---\nA.\n").unwrap();
    let path = folder.path();
    let tables = format!("[[source]]\nname = \"sk\"\npath = {path:?}\n[skills]\nsource = \"sk\"");
    let stage = Stage::of(&tables, |_| {}).await.registered().await;
    stage.chain.put_on(&address(&key(1)), VIBECODER);
    (stage, folder)
}

/// The gateway specification, decision 5: a failure is a JSON-RPC error with `error.data.error_code`, such as
/// `SCOPE_MISSING`.
#[tokio::test]
async fn g5_a_script_that_may_not_be_run_is_a_json_rpc_error() {
    let (stage, _folder) = with_skills().await;
    let run = || call("run_script", &json!({ "skill_path": "a", "file": "x.sh", "args": {} }));
    let stranger = stage.app.send(run()).await;
    assert_eq!(
        (stranger.status, &stranger.json()["error"]["data"]["error_code"]),
        (401, &json!("SCOPE_MISSING"))
    );
    let less = stage.sign_in_for("knowledge:read", &key(1)).await;
    let denied = stage.app.send(with_token(run(), &less.access)).await;
    assert_eq!(
        (denied.status, &denied.json()["error"]["data"]["error_code"]),
        (403, &json!("SCOPE_MISSING"))
    );
    // Failures of a call are results for the model.
    let all = stage.sign_in(&key(1)).await;
    let failed = stage.app.send(with_token(run(), &all.access)).await;
    assert_eq!((failed.status, &failed.result()["isError"]), (200, &json!(true)), "{failed:?}");
}

#[tokio::test]
async fn s7_every_tool_above_public_names_a_scope() {
    let (stage, _folder) = with_skills().await;
    let tokens = stage.sign_in(&key(1)).await;
    let tools = stage.app.send(with_token(get("/tools"), &tokens.access)).await.json();
    let above: Vec<&Value> =
        tools["tools"].as_array().unwrap().iter().filter(|tool| tool["tier"] != "public").collect();
    assert_eq!(above.len(), 5, "{above:?}");
    for tool in above {
        assert_ne!(tool["requiredScopes"], json!([]), "{tool}");
    }
}

#[tokio::test]
async fn s17_a_client_that_names_no_scope_gets_the_least_and_steps_up() {
    let stage = vibecoder().await;
    let least = stage.sign_in_for("", &key(1)).await;
    assert_eq!(least.scope, "mcp:read");
    let refused = stage.app.send(with_token(by_tool(), &least.access)).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    // The challenge lists the granted scopes too, because a new grant replaces the old one.
    let challenge = refused.header("www-authenticate");
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    let asked = challenge.split("scope=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(asked, "knowledge:read mcp:read");
    let more = stage.sign_in_for(asked, &key(1)).await;
    assert_eq!(stage.app.send(with_token(by_tool(), &more.access)).await.status, 200);
    let refused = stage.app.send(with_token(call("refresh_sources", &json!({})), &more.access)).await;
    let challenge = refused.header("www-authenticate");
    assert!(challenge.contains("scope=\"knowledge:read mcp:read sources:refresh\""), "{challenge}");
    // Clients that request all listed scopes find it there.
    let metadata = stage.app.send(get("/.well-known/oauth-protected-resource/mcp")).await.json();
    assert_eq!(metadata["scopes_supported"].as_array().unwrap().len(), 4);
}
