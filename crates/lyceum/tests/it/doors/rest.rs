//! Tools over REST.

use lyceum_tools::mcp::SUPPORTED_VERSIONS;
use serde_json::{Value, json};

use crate::app::{Settings, TestApp, get, post};

#[tokio::test]
async fn the_tools_of_the_product_are_listed() {
    let app = TestApp::product(Settings::default()).await;
    let answer = app.send(get("/tools")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    insta::assert_json_snapshot!(answer.json(), {
        ".tools[].description" => "[description]",
        ".tools[].outputSchema" => "[schema]",
    }, @r#"
    {
      "tools": [
        {
          "description": "[description]",
          "domain": "server",
          "inputSchema": {
            "additionalProperties": false,
            "description": "No arguments.",
            "properties": {},
            "type": "object"
          },
          "name": "server_info",
          "outputSchema": "[schema]",
          "requiredScopes": [],
          "tier": "public",
          "title": "Server information"
        }
      ]
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn server_info_tells_what_the_server_is() {
    let app = TestApp::product(Settings::default()).await;
    let answer = app.send(post("/tools/server_info/call", "")).await;
    assert_eq!(answer.status, 200);
    let result = answer.json();
    let info = &result["structuredContent"];
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(info["protocol_versions"], json!(SUPPORTED_VERSIONS));
    insta::assert_json_snapshot!(info, { ".version" => "[version]" }, @r#"
    {
      "name": "lyceum",
      "protocol_versions": [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26"
      ],
      "services": [
        "server"
      ],
      "sources": [],
      "version": "[version]"
    }
    "#);
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, info, "the text says what the structure says");
    app.stop().await;
}

#[tokio::test]
async fn a_call_answers_with_the_result() {
    let app = TestApp::start().await;
    let answer = app.send(post("/tools/add/call", r#"{"arguments":{"a":2,"b":3}}"#)).await;
    assert_eq!(answer.status, 200);
    insta::assert_json_snapshot!(answer.json(), @r#"
    {
      "content": [
        {
          "text": "{\"sum\":5}",
          "type": "text"
        }
      ],
      "isError": false,
      "resultType": "complete",
      "structuredContent": {
        "sum": 5
      }
    }
    "#);
    app.stop().await;
}

async fn check(path: &str, body: &str, status: u16, code: &str, field: Value) {
    let app = TestApp::start().await;
    let answer = app.send(post(path, body.to_owned())).await;
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &error["code"]), (status, &json!(code)), "{error}");
    assert_eq!(error["details"]["field"], field, "{error}");
    if let Some(field) = field.as_str() {
        assert!(error["message"].as_str().unwrap().contains(field), "{error}");
    }
    app.stop().await;
}

#[tokio::test]
async fn an_argument_that_is_not_as_the_schema_says_is_named() {
    let invalid = "VALIDATION_ERROR";
    let path = "/tools/add/call";
    check(path, r#"{"arguments":{"a":2}}"#, 400, invalid, json!("arguments.b")).await;
    check(path, r#"{"arguments":{"a":"2","b":3}}"#, 400, invalid, json!("arguments.a")).await;
    check(path, r#"{"arguments":{"a":2,"b":3,"c":4}}"#, 400, invalid, json!("arguments.c")).await;
    check(path, r#"{"arguments":{"a":2,"b":9223372036854775807}}"#, 400, invalid, json!("arguments.b")).await;
}

#[tokio::test]
async fn a_body_that_is_not_a_call_is_refused() {
    let path = "/tools/add/call";
    for body in ["{", "[]", "5", r#"{"arguments":[]}"#, r#"{"argument":{}}"#, r#"{"arguments":null}"#] {
        check(path, body, 400, "VALIDATION_ERROR", Value::Null).await;
    }
}

#[tokio::test]
async fn an_unknown_tool_is_not_found() {
    check("/tools/nothing/call", "{}", 404, "TOOL_NOT_FOUND", Value::Null).await;
    check("/tools/..%2F..%2Fetc/call", "{}", 404, "TOOL_NOT_FOUND", Value::Null).await;
}

#[tokio::test]
async fn a_tool_that_asks_questions_sends_callers_to_mcp() {
    let body = r#"{"arguments":{"message":"Who are you?"}}"#;
    check("/tools/test_elicitation/call", body, 400, "VALIDATION_ERROR", Value::Null).await;
}
