//! A program does what it was allowed, and nothing else, whatever the person may do themselves.

use serde_json::{Value, json};

use super::{Stage, VIBECODER, address, key, with_token};
use crate::app::{Request, call, get, modern};

/// A document of the example, by its address and by a tool.
fn by_address() -> Request {
    modern("resources/read", &json!({ "uri": "mcp://kb/content/pattern/write-the-why" }))
}

fn by_tool() -> Request {
    call("get_document", &json!({ "contentType": "pattern", "id": "write-the-why" }))
}

/// The ids that a document could have.
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

#[tokio::test]
async fn s7_every_tool_above_public_names_a_scope() {
    let stage = vibecoder().await;
    let tokens = stage.sign_in(&key(1)).await;
    let tools = stage.app.send(with_token(get("/tools"), &tokens.access)).await.json();
    let above: Vec<&Value> =
        tools["tools"].as_array().unwrap().iter().filter(|tool| tool["tier"] != "public").collect();
    assert!(above.len() >= 3, "{above:?}");
    for tool in above {
        assert_ne!(tool["requiredScopes"], json!([]), "{tool}");
    }
}
