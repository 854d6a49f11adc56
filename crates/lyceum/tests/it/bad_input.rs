//! Bad input: each kind gets the status and the code that the specification asks for, within a time limit, and the
//! server goes on serving others.

mod codes;
mod envelope;
mod flood;
mod messages;
mod panics;
mod size;
mod slow;

use serde_json::Value;

use crate::app::{Request, TestApp};

/// Sends what is bad over MCP, and looks at the status, the JSON-RPC code and the fate of others.
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
