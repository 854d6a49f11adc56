//! Error responses in full: clients match on them.

use std::sync::Arc;

use lyceum_model::{Domain, ErrorCode};
use lyceum_tools::{Error, Faults, Hub, ToolSpec};
use serde_json::json;

use crate::app::{
    Older, Request, Settings, TestApp, call, get, hub, message, modern, object, post, spec, tool,
};

/// A tool for each code, named after it, that fails with it.
fn failing(faults: Faults) -> Arc<Hub> {
    hub(ErrorCode::ALL.map(|code| {
        let spec = ToolSpec { faults, ..spec(code.as_str()) };
        tool(spec, move |_| async move { Err(Error::Failed { code, message: "it failed".to_owned() }) })
    }))
}

/// The status and the error of each response, a line each.
async fn all_seen(app: &TestApp, requests: impl IntoIterator<Item = Request>) -> String {
    let mut lines = Vec::new();
    for request in requests {
        let answer = app.send(request).await;
        lines.push(format!("{} {}", answer.status, answer.message()["error"]));
    }
    lines.join("\n")
}

/// The responses for all codes.
async fn each_code(request: impl Fn(&str) -> Request) -> String {
    let app = TestApp::with(failing(Faults::AsProtocolError), Settings::default()).await;
    let seen = all_seen(&app, ErrorCode::ALL.map(|code| request(code.as_str()))).await;
    app.stop().await;
    seen
}

#[tokio::test]
async fn each_code_by_rest() {
    let seen = each_code(|code| post(&format!("/tools/{code}/call"), "{}")).await;
    insta::assert_snapshot!(seen, @r#"
    404 {"code":"TOOL_NOT_FOUND","message":"it failed"}
    403 {"code":"SCOPE_MISSING","message":"it failed"}
    400 {"code":"VALIDATION_ERROR","message":"it failed"}
    502 {"code":"UPSTREAM_ERROR","message":"it failed"}
    403 {"code":"FORBIDDEN","message":"it failed"}
    401 {"code":"UNAUTHORIZED","message":"it failed"}
    404 {"code":"NOT_FOUND","message":"it failed"}
    400 {"code":"INVALID_PATH","message":"it failed"}
    400 {"code":"INVALID_QUERY","message":"it failed"}
    400 {"code":"INVALID_LIMIT","message":"it failed"}
    500 {"code":"SEARCH_ERROR","message":"it failed"}
    405 {"code":"METHOD_NOT_ALLOWED","message":"it failed"}
    413 {"code":"PAYLOAD_TOO_LARGE","message":"it failed"}
    429 {"code":"RATE_LIMITED","message":"it failed"}
    504 {"code":"TIMEOUT","message":"it failed"}
    503 {"code":"UNAVAILABLE","message":"it failed"}
    500 {"code":"INTERNAL_ERROR","message":"it failed"}
    "#);
}

#[tokio::test]
async fn each_code_over_mcp() {
    let seen = each_code(|code| call(code, &json!({}))).await;
    insta::assert_snapshot!(seen, @r#"
    200 {"code":-32602,"data":{"error_code":"TOOL_NOT_FOUND"},"message":"it failed"}
    200 {"code":4031,"data":{"error_code":"SCOPE_MISSING"},"message":"it failed"}
    200 {"code":-32602,"data":{"error_code":"VALIDATION_ERROR"},"message":"it failed"}
    200 {"code":5020,"data":{"error_code":"UPSTREAM_ERROR"},"message":"it failed"}
    200 {"code":4030,"data":{"error_code":"FORBIDDEN"},"message":"it failed"}
    200 {"code":4010,"data":{"error_code":"UNAUTHORIZED"},"message":"it failed"}
    200 {"code":-32602,"data":{"error_code":"NOT_FOUND"},"message":"it failed"}
    200 {"code":-32602,"data":{"error_code":"INVALID_PATH"},"message":"it failed"}
    200 {"code":-32602,"data":{"error_code":"INVALID_QUERY"},"message":"it failed"}
    200 {"code":-32602,"data":{"error_code":"INVALID_LIMIT"},"message":"it failed"}
    200 {"code":5000,"data":{"error_code":"SEARCH_ERROR"},"message":"it failed"}
    404 {"code":-32601,"data":{"error_code":"METHOD_NOT_ALLOWED"},"message":"it failed"}
    200 {"code":4130,"data":{"error_code":"PAYLOAD_TOO_LARGE"},"message":"it failed"}
    200 {"code":4290,"data":{"error_code":"RATE_LIMITED"},"message":"it failed"}
    200 {"code":5040,"data":{"error_code":"TIMEOUT"},"message":"it failed"}
    200 {"code":5030,"data":{"error_code":"UNAVAILABLE"},"message":"it failed"}
    200 {"code":-32603,"data":{"error_code":"INTERNAL_ERROR"},"message":"it failed"}
    "#);
}

#[tokio::test]
async fn each_code_is_the_same_in_an_older_session() {
    let app = TestApp::with(failing(Faults::AsProtocolError), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    for code in ErrorCode::ALL {
        let modern = app.send(call(code.as_str(), &json!({}))).await.message();
        let older = app.send(session.call(code.as_str(), &json!({}))).await.message();
        assert_eq!(modern["error"], older["error"], "{code}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_failure_told_to_the_model_is_a_result() {
    let app = TestApp::with(failing(Faults::InResult), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let modern = app.send(call("SEARCH_ERROR", &json!({}))).await.result();
    insta::assert_json_snapshot!(modern, {
        r#"._meta["io.modelcontextprotocol/serverInfo"].version"# => "[version]",
    }, @r#"
    {
      "_meta": {
        "io.modelcontextprotocol/serverInfo": {
          "name": "lyceum",
          "version": "[version]"
        },
        "lyceum/error_code": "SEARCH_ERROR"
      },
      "content": [
        {
          "text": "it failed",
          "type": "text"
        }
      ],
      "isError": true,
      "resultType": "complete"
    }
    "#);
    let older = app.send(session.call("SEARCH_ERROR", &json!({}))).await.result();
    insta::assert_json_snapshot!(older, @r#"
    {
      "_meta": {
        "lyceum/error_code": "SEARCH_ERROR"
      },
      "content": [
        {
          "text": "it failed",
          "type": "text"
        }
      ],
      "isError": true
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn the_words_of_an_upstream_stay_in_the_log() {
    let upstream = tool(spec("upstream"), |_| async {
        let source = "connection to 10.0.0.7 with token s3cret failed".into();
        Err(Error::Upstream { domain: Domain::from_static("partner"), source })
    });
    let app = TestApp::with(hub([upstream]), Settings::default()).await;
    let requests = [call("upstream", &json!({})), post("/tools/upstream/call", "{}")];
    insta::assert_snapshot!(all_seen(&app, requests).await, @r#"
    200 {"code":5020,"data":{"error_code":"UPSTREAM_ERROR"},"message":"partner did not answer as expected; try again later"}
    502 {"code":"UPSTREAM_ERROR","message":"partner did not answer as expected; try again later"}
    "#);
    app.stop().await;
}

#[tokio::test]
async fn an_argument_that_does_not_fit_is_named() {
    let schema = object(&json!({
        "type": "object",
        "properties": { "query": { "type": "string", "minLength": 1 } },
        "required": ["query"],
    }));
    let needy = ToolSpec { input_schema: schema, ..spec("needy") };
    let app = TestApp::with(hub([tool(needy, |_| async { Ok(String::new()) })]), Settings::default()).await;
    let requests = [
        call("needy", &json!({})),
        call("needy", &json!({ "query": "" })),
        post("/tools/needy/call", r#"{"arguments":{"query":5}}"#),
    ];
    insta::assert_snapshot!(all_seen(&app, requests).await, @r#"
    200 {"code":-32602,"data":{"error_code":"VALIDATION_ERROR","field":"arguments.query"},"message":"arguments.query: \"query\" is a required property"}
    200 {"code":-32602,"data":{"error_code":"VALIDATION_ERROR","field":"arguments.query"},"message":"arguments.query: \"\" is shorter than 1 character"}
    400 {"code":"VALIDATION_ERROR","details":{"field":"arguments.query"},"message":"arguments.query: 5 is not of type \"string\""}
    "#);
    app.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let resource = json!({ "uri": "test://nothing" });
    let requests = [
        call("nothing", &json!({})),
        post("/tools/nothing/call", "{}"),
        modern("prompts/get", &json!({ "name": "nothing" })),
        session.request("resources/read", &resource),
        modern("resources/read", &resource),
        modern("tools/destroy", &json!({})),
        get("/nothing"),
    ];
    insta::assert_snapshot!(all_seen(&app, requests).await, @r#"
    200 {"code":-32602,"data":{"error_code":"TOOL_NOT_FOUND","name":"nothing"},"message":"unknown tool \"nothing\"; tools/list lists all tools"}
    404 {"code":"TOOL_NOT_FOUND","details":{"name":"nothing"},"message":"unknown tool \"nothing\"; tools/list lists all tools"}
    200 {"code":-32602,"data":{"error_code":"NOT_FOUND","name":"nothing"},"message":"unknown prompt \"nothing\"; prompts/list lists all prompts"}
    200 {"code":-32002,"data":{"error_code":"NOT_FOUND","uri":"test://nothing"},"message":"unknown resource \"test://nothing\""}
    200 {"code":-32602,"data":{"error_code":"NOT_FOUND","uri":"test://nothing"},"message":"unknown resource \"test://nothing\""}
    404 {"code":-32601,"data":{"error_code":"METHOD_NOT_ALLOWED"},"message":"unknown method \"tools/destroy\" in MCP 2026-07-28"}
    404 {"code":"NOT_FOUND","message":"no such path"}
    "#);
    app.stop().await;
}

#[tokio::test]
async fn the_errors_of_the_protocol_itself() {
    let app = TestApp::start().await;
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } });
    let mut unknown = modern("tools/list", &meta);
    unknown.headers_mut().insert("mcp-protocol-version", "2099-01-01".parse().unwrap());
    let mut contradicting = modern("tools/list", &json!({}));
    contradicting.headers_mut().insert("mcp-method", "tools/call".parse().unwrap());
    let requests = [
        post("/mcp", "{"),
        post("/mcp", "[]"),
        post("/mcp", message("tools/list", &json!({})).to_string()),
        get("/mcp"),
        unknown,
        contradicting,
        call("test_elicitation", &json!({ "message": "Who?" })),
    ];
    insta::assert_snapshot!(all_seen(&app, requests).await, @r#"
    400 {"code":-32700,"data":{"error_code":"VALIDATION_ERROR"},"message":"the body is not JSON: EOF while parsing an object at line 1 column 1"}
    400 {"code":-32600,"data":{"error_code":"VALIDATION_ERROR"},"message":"batches are not supported: send one message per request"}
    400 {"code":-32600,"data":{"error_code":"VALIDATION_ERROR"},"message":"no session; send initialize first, or use 2026-07-28 with MCP-Protocol-Version and params._meta"}
    405 {"code":-32601,"data":{"error_code":"METHOD_NOT_ALLOWED"},"message":"send messages by POST"}
    400 {"code":-32022,"data":{"error_code":"VALIDATION_ERROR","requested":"2099-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]},"message":"Unsupported protocol version"}
    400 {"code":-32020,"data":{"error_code":"VALIDATION_ERROR"},"message":"Header mismatch: Mcp-Method does not match the body"}
    400 {"code":-32021,"data":{"error_code":"VALIDATION_ERROR","requiredCapabilities":{"elicitation":{}}},"message":"Missing required client capability"}
    "#);
    app.stop().await;
}
