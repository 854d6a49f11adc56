//! Error codes in JSON-RPC. Clients match on these, so each is a promise.

use lyceum_model::{Domain, ErrorCode, Scope, Tier};

use super::Client;
use crate::{Denied, Error, mcp::error_data, mcp::failed_result};

fn payload(error: &Error) -> String {
    serde_json::to_string(&error_data(error)).unwrap()
}

#[test]
fn every_code_has_its_payload() {
    let lines = ErrorCode::ALL.map(|code| payload(&Error::Failed { code, message: "why".to_owned() }));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"code":-32602,"message":"why","data":{"error_code":"TOOL_NOT_FOUND"}}
    {"code":4031,"message":"why","data":{"error_code":"SCOPE_MISSING"}}
    {"code":-32602,"message":"why","data":{"error_code":"VALIDATION_ERROR"}}
    {"code":5020,"message":"why","data":{"error_code":"UPSTREAM_ERROR"}}
    {"code":4030,"message":"why","data":{"error_code":"FORBIDDEN"}}
    {"code":4010,"message":"why","data":{"error_code":"UNAUTHORIZED"}}
    {"code":-32602,"message":"why","data":{"error_code":"NOT_FOUND"}}
    {"code":-32602,"message":"why","data":{"error_code":"INVALID_PATH"}}
    {"code":-32602,"message":"why","data":{"error_code":"INVALID_QUERY"}}
    {"code":-32602,"message":"why","data":{"error_code":"INVALID_LIMIT"}}
    {"code":5000,"message":"why","data":{"error_code":"SEARCH_ERROR"}}
    {"code":-32601,"message":"why","data":{"error_code":"METHOD_NOT_ALLOWED"}}
    {"code":4130,"message":"why","data":{"error_code":"PAYLOAD_TOO_LARGE"}}
    {"code":4290,"message":"why","data":{"error_code":"RATE_LIMITED"}}
    {"code":5040,"message":"why","data":{"error_code":"TIMEOUT"}}
    {"code":5030,"message":"why","data":{"error_code":"UNAVAILABLE"}}
    {"code":-32603,"message":"why","data":{"error_code":"INTERNAL_ERROR"}}
    "#);
}

#[test]
fn every_error_says_what_a_program_may_want_to_know() {
    let client = serde_json::from_value(serde_json::json!({ "elicitation": {}, "sampling": {} })).unwrap();
    let scopes = vec![Scope::from_static("kb:read"), Scope::from_static("kb:write")];
    let errors = [
        Error::ToolNotFound { name: "find".to_owned() },
        Error::PromptNotFound { name: "greet".to_owned() },
        Error::ResourceNotFound { uri: "kb://a".to_owned() },
        Error::MethodNotFound { name: "notes/list".to_owned() },
        Error::Denied(Denied { tier: Some(Tier::Member), scopes: scopes.clone(), needed: scopes.clone() }),
        Error::Denied(Denied { tier: None, scopes: scopes.clone(), needed: scopes }),
        Error::invalid("arguments.query", "arguments.query: is too long"),
        Error::ClientCannot { needed: Box::new(client) },
        Error::Upstream { domain: Domain::from_static("search"), source: "password: 1234".into() },
        Error::internal("password: 1234"),
    ];
    let lines: Vec<String> = errors.iter().map(payload).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"code":-32602,"message":"unknown tool \"find\"; tools/list lists all tools","data":{"error_code":"TOOL_NOT_FOUND","name":"find"}}
    {"code":-32602,"message":"unknown prompt \"greet\"; prompts/list lists all prompts","data":{"error_code":"NOT_FOUND","name":"greet"}}
    {"code":-32602,"message":"unknown resource \"kb://a\"","data":{"error_code":"NOT_FOUND","uri":"kb://a"}}
    {"code":-32601,"message":"unknown method \"notes/list\"; capabilities.extensions lists the supported extensions","data":{"error_code":"METHOD_NOT_ALLOWED","name":"notes/list"}}
    {"code":4031,"message":"Access denied. This tool requires member access.","data":{"error_code":"SCOPE_MISSING","missingScopes":["kb:read","kb:write"],"requiredTier":"member"}}
    {"code":4031,"message":"Access denied. This tool requires the scopes kb:read, kb:write.","data":{"error_code":"SCOPE_MISSING","missingScopes":["kb:read","kb:write"]}}
    {"code":-32602,"message":"arguments.query: is too long","data":{"error_code":"VALIDATION_ERROR","field":"arguments.query"}}
    {"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{},"sampling":{}}}}
    {"code":5020,"message":"search did not answer as expected; try again later","data":{"error_code":"UPSTREAM_ERROR"}}
    {"code":-32603,"message":"an unexpected error occurred","data":{"error_code":"INTERNAL_ERROR"}}
    "#);
}

#[test]
fn an_error_that_the_model_reads_carries_its_code_too() {
    let error = Error::Failed { code: ErrorCode::RateLimited, message: "wait a minute".to_owned() };
    insta::assert_json_snapshot!(failed_result(&error), @r#"
    {
      "resultType": "complete",
      "content": [
        {
          "type": "text",
          "text": "wait a minute"
        }
      ],
      "isError": true,
      "_meta": {
        "lyceum/error_code": "RATE_LIMITED"
      }
    }
    "#);
}

/// Checks that the response is short, however large the request.
async fn check_short(method: &str, params: serde_json::Value) {
    let client = Client::of(crate::Registry::builder().build());
    let answer = client.ask(method, params).await.to_string();
    assert!(answer.len() < 2_000, "{method} answers with {} bytes", answer.len());
}

#[tokio::test]
async fn a_name_that_is_far_too_long_is_not_sent_back_whole() {
    let long = "x".repeat(1_000_000);
    check_short(&long, serde_json::json!({})).await;
    check_short("tools/call", serde_json::json!({ "name": long })).await;
    check_short("prompts/get", serde_json::json!({ "name": long })).await;
    check_short("resources/read", serde_json::json!({ "uri": long })).await;
}
