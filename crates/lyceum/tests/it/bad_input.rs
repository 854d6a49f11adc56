//! Bad input: each kind gets the status and the code of the specification, within a time limit, and other clients are
//! still served.

mod codes;
mod envelope;
mod flood;
mod messages;
mod panics;
mod size;
mod slow;

use serde_json::Value;

use crate::app::{Request, TestApp};

/// Sends a bad MCP request; checks the status, the JSON-RPC code, and that other clients are still served.
async fn check(app: &TestApp, request: Request, status: u16, code: i64) -> Value {
    let answer = app.send(request).await;
    assert_eq!(answer.status, status, "{answer:?}");
    let message = answer.message();
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    assert_eq!(message["error"]["code"], code, "{message}");
    assert!(message["error"]["data"]["error_code"].is_string(), "{message}");
    app.serves_others().await;
    message
}
