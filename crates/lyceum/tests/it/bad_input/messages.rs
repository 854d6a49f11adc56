//! Invalid messages, and messages with unknown methods.

use serde_json::{Value, json};

use super::check;
use crate::app::{MODERN, Older, TestApp, body_of, call, modern, post};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

#[tokio::test]
async fn malformed_json_is_a_parse_error() {
    let app = TestApp::start().await;
    let truncated = r#"{"jsonrpc":"2.0","id":1,"method":"#;
    for body in ["", "{", "nonsense", truncated, "{} {}", "\u{0}", "NaN"] {
        check(&app, post("/mcp", body), 400, PARSE_ERROR).await;
    }
    check(&app, post("/mcp", &b"\xff\xfe\"\x80\""[..]), 400, PARSE_ERROR).await;
    app.stop().await;
}

#[tokio::test]
async fn json_nested_a_hundred_thousand_deep_is_a_parse_error() {
    let app = TestApp::start().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    check(&app, post("/mcp", deep.clone()), 400, PARSE_ERROR).await;
    let within = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"deep":{deep}}}}}"#);
    check(&app, post("/mcp", within.clone()), 400, PARSE_ERROR).await;
    let objects = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    check(&app, post("/mcp", objects), 400, PARSE_ERROR).await;

    let session = Older::open(&app, "2025-11-25").await;
    let mut request = session.message(&json!({}));
    *request.body_mut() = within.into();
    check(&app, request, 400, PARSE_ERROR).await;

    let answer = app.send(post("/tools/add/call", format!(r#"{{"arguments":{deep}}}"#))).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("VALIDATION_ERROR")));
    app.stop().await;
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_refused_by_name() {
    let app = TestApp::start().await;
    let good = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {} });
    let wrong = [
        ("jsonrpc", json!("1.0"), INVALID_REQUEST),
        ("jsonrpc", json!(2.0), INVALID_REQUEST),
        ("jsonrpc", json!(null), INVALID_REQUEST),
        ("id", json!({}), INVALID_REQUEST),
        ("id", json!([]), INVALID_REQUEST),
        ("id", json!(null), INVALID_REQUEST),
        ("id", json!(true), INVALID_REQUEST),
        ("id", json!(1.5), INVALID_REQUEST),
        ("method", json!(5), INVALID_REQUEST),
        ("method", json!(null), INVALID_REQUEST),
        ("params", json!([]), INVALID_PARAMS),
        ("params", json!("text"), INVALID_PARAMS),
        ("params", json!({ "_meta": "text" }), INVALID_PARAMS),
        ("params", json!({ "_meta": [MODERN, {}, null, null] }), INVALID_PARAMS),
    ];
    for (field, value, code) in wrong {
        let mut message = good.clone();
        message[field] = value;
        let refusal = check(&app, post("/mcp", message.to_string()), 400, code).await;
        let id = if field == "id" { Value::Null } else { json!(7) };
        assert_eq!(refusal["id"], id, "{message}");
        let said = refusal["error"]["message"].as_str().unwrap();
        assert!(said.contains(field), "{said} does not name {field}");
    }
    for body in ["5", "\"text\"", "null", "true"] {
        check(&app, post("/mcp", body), 400, INVALID_REQUEST).await;
    }
    let twice = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#;
    check(&app, post("/mcp", twice), 400, INVALID_REQUEST).await;
    app.stop().await;
}

#[tokio::test]
async fn a_batch_is_an_invalid_request() {
    let app = TestApp::start().await;
    let one = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for batch in [json!([]), json!([one]), json!([one, one])] {
        check(&app, post("/mcp", batch.to_string()), 400, INVALID_REQUEST).await;
    }
    let session = Older::open(&app, "2025-06-18").await;
    check(&app, session.message(&json!([one, one])), 400, INVALID_REQUEST).await;
    app.stop().await;
}

#[tokio::test]
async fn the_values_of_a_message_without_their_names_are_an_invalid_request() {
    let app = TestApp::start().await;
    let mut request = modern("server/discover", &json!({}));
    let sent: Value = serde_json::from_slice(&body_of(&request).await).unwrap();
    let values = json!([sent["jsonrpc"], sent["id"], sent["method"], sent["params"], null, null]);
    *request.body_mut() = values.to_string().into();
    check(&app, request, 400, INVALID_REQUEST).await;
    app.stop().await;
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let app = TestApp::start().await;
    for method in ["tools/destroy", "", "ping", "logging/setLevel", "resources/subscribe", "initialize"] {
        check(&app, modern(method, &json!({})), 404, METHOD_NOT_FOUND).await;
    }
    let session = Older::open(&app, "2025-11-25").await;
    check(&app, session.request("tools/destroy", &json!({})), 200, METHOD_NOT_FOUND).await;
    app.stop().await;
}

#[tokio::test]
async fn an_unknown_tool_is_not_found() {
    let app = TestApp::start().await;
    let name = "no_such_tool";
    let modern = check(&app, call(name, &json!({})), 200, INVALID_PARAMS).await;
    let session = Older::open(&app, "2025-11-25").await;
    let older = check(&app, session.call(name, &json!({})), 200, INVALID_PARAMS).await;
    for error in [&modern["error"], &older["error"]] {
        assert_eq!(error["data"]["error_code"], "TOOL_NOT_FOUND", "{error}");
    }
    let answer = app.send(post("/tools/no_such_tool/call", "{}")).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("TOOL_NOT_FOUND")));
    app.stop().await;
}

#[tokio::test]
async fn parameters_of_the_wrong_type_are_invalid() {
    let app = TestApp::start().await;
    let wrong = [
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": "add", "arguments": [1, 2] })),
        ("tools/list", json!({ "cursor": 5 })),
        ("resources/read", json!({ "uri": null })),
        ("completion/complete", json!({ "ref": "prompt" })),
        ("subscriptions/listen", json!({ "notifications": 1 })),
    ];
    for (method, params) in wrong {
        let mut request = modern(method, &params);
        request.headers_mut().entry("mcp-name").or_insert("".parse().unwrap());
        let answer = app.send(request).await;
        let message = answer.message();
        assert_eq!(message["error"]["code"], INVALID_PARAMS, "{method} {params}: {message}");
        assert!([200, 400].contains(&answer.status), "{method} {params}: {}", answer.status);
    }
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_an_invalid_request() {
    let app = TestApp::start().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string();
    check(&app, post("/mcp", body.clone()), 400, INVALID_REQUEST).await;
    let mut request = post("/mcp", body);
    request.headers_mut().insert("mcp-protocol-version", MODERN.parse().unwrap());
    check(&app, request, 400, INVALID_REQUEST).await;
    app.stop().await;
}
