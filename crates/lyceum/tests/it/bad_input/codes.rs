//! G-5: "Use JSON-RPC errors with `data: { error_code, … }`", for every malformed envelope, over every transport.

use serde_json::{Value, json};

use crate::{
    app::{Older, Request, TestApp, modern, post},
    stdio::Program,
};

/// Malformed messages.
const ENVELOPES: [&str; 16] = [
    "nonsense",
    "{",
    "",
    "[]",
    "5",
    "\"text\"",
    "null",
    r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
    r#"{"id":1,"method":"tools/list"}"#,
    r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":1}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
    r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}"#,
];

#[track_caller]
fn check(message: &Value, code: &str, what: &str) {
    assert_eq!(message["error"]["data"]["error_code"], code, "{what}: {message}");
}

/// A request with another body.
fn with_body(mut request: Request, body: &'static str) -> Request {
    *request.body_mut() = http_body_util::Full::new(body.into());
    request
}

#[tokio::test]
async fn g5_every_malformed_envelope_carries_an_error_code_over_http() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    for envelope in ENVELOPES {
        let requests = [
            post("/mcp", envelope),
            with_body(modern("tools/list", &json!({})), envelope),
            with_body(session.request("tools/list", &json!({})), envelope),
        ];
        for request in requests {
            check(&app.send(request).await.message(), "VALIDATION_ERROR", envelope);
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn g5_what_is_wrong_inside_an_envelope_carries_an_error_code_in_both_eras() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let refused = [
        ("nothing", json!({}), "METHOD_NOT_ALLOWED"),
        ("tools/call", json!({ "arguments": {} }), "VALIDATION_ERROR"),
        ("resources/read", json!({ "uri": 5 }), "VALIDATION_ERROR"),
        ("prompts/get", json!({}), "VALIDATION_ERROR"),
        ("completion/complete", json!({}), "VALIDATION_ERROR"),
        ("tools/list", json!({ "cursor": "nonsense" }), "VALIDATION_ERROR"),
    ];
    for (method, params, code) in &refused {
        let mut request = modern(method, params);
        request.headers_mut().insert("mcp-name", "".parse().unwrap());
        check(&app.send(request).await.message(), code, method);
        let answer = app.send(session.request(method, params)).await;
        assert!(answer.message()["error"]["data"]["error_code"].is_string(), "{method}: {answer:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn g5_every_malformed_envelope_carries_an_error_code_over_stdio() {
    let mut program = Program::of("", &[]);
    // An empty line is not a message.
    for envelope in ENVELOPES.into_iter().filter(|envelope| !envelope.is_empty()) {
        program.write(envelope).await;
        check(&program.read().await.unwrap(), "VALIDATION_ERROR", envelope);
    }
}
