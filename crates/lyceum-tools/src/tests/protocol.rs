//! What every request of MCP 2026-07-28 must contain, and what every response does.

use lyceum_model::{Access, Caller, MCP_READ, Scope, Tier};
use serde_json::{Value, json};

use super::{Client, SHELF, prompt, resource, spec, tool};
use crate::{
    Registry,
    mcp::{PromptArgument, Reply, WirePrompt},
};

fn client() -> Client {
    let open = || Access::public(SHELF);
    let wire = WirePrompt::new("greet", None::<&str>, Some(vec![PromptArgument::new("plant")]));
    let builder = Registry::builder().tool_entry(tool(spec("find"))).unwrap();
    Client::of(
        builder.resource(resource(open(), "kb://a")).unwrap().prompt(prompt(open(), wire)).unwrap().build(),
    )
}

#[tokio::test]
async fn every_answer_is_complete_and_names_the_server() {
    let completion = json!({
        "ref": { "type": "ref/prompt", "name": "greet" },
        "argument": { "name": "plant", "value": "" },
    });
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("tools/call", json!({ "name": "find" })),
        ("prompts/get", json!({ "name": "greet" })),
        ("resources/read", json!({ "uri": "kb://a" })),
        ("completion/complete", completion),
    ] {
        let message = &client().messages(method, params).await[0];
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)), "{method}");
        let result = &message["result"];
        assert_eq!(result["resultType"], "complete", "{method}: {message}");
        let server = json!({ "name": "lyceum", "version": "0.0.0" });
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"], server, "{method}");
    }
}

#[tokio::test]
async fn a_server_says_what_it_speaks_and_can() {
    insta::assert_json_snapshot!(client().ask("server/discover", json!({})).await, @r#"
    {
      "cacheScope": "public",
      "capabilities": {
        "completions": {},
        "logging": {},
        "prompts": {
          "listChanged": true
        },
        "resources": {
          "listChanged": true,
          "subscribe": true
        },
        "tools": {
          "listChanged": true
        }
      },
      "instructions": "Read the labels.",
      "resultType": "complete",
      "supportedVersions": [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26"
      ],
      "ttlMs": 0
    }
    "#);
}

#[tokio::test]
async fn a_model_is_instructed_about_what_its_caller_may_use() {
    let member = Caller::known("ana", Tier::Member, [MCP_READ, Scope::from_static("shelf:read")]);
    let discovered = client().called_by(member).ask("server/discover", json!({})).await;
    assert_eq!(discovered["instructions"], "Read the labels. Members take a key.");
    // A token that may read nothing is told nothing.
    let nobody = Caller::known("ben", Tier::Member, []);
    let discovered = client().called_by(nobody).ask("server/discover", json!({})).await;
    assert_eq!(discovered.get("instructions"), None);
}

#[tokio::test]
async fn a_tool_is_listed_with_all_that_a_model_chooses_by() {
    insta::assert_json_snapshot!(client().ask("tools/list", json!({})).await, @r#"
    {
      "cacheScope": "public",
      "resultType": "complete",
      "tools": [
        {
          "annotations": {
            "destructiveHint": false,
            "openWorldHint": false,
            "readOnlyHint": true
          },
          "description": "For a test.",
          "inputSchema": {
            "type": "object"
          },
          "name": "find",
          "title": "find"
        }
      ],
      "ttlMs": 0
    }
    "#);
}

/// The error of a request that is rejected before its method runs.
async fn refused(method: &str, params: Value) -> Value {
    let client = client();
    match client.reply(method, params).await {
        Reply::Refused(message) => client.read(*message)["error"].clone(),
        reply => panic!("{reply:?}"),
    }
}

#[tokio::test]
async fn a_request_must_say_what_it_speaks_and_can() {
    insta::assert_json_snapshot!(refused("tools/list", json!({ "_meta": {} })).await, @r#"
    {
      "code": -32602,
      "data": {
        "error_code": "VALIDATION_ERROR"
      },
      "message": "params._meta: must carry io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities"
    }
    "#);
    let version = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    insta::assert_json_snapshot!(refused("tools/list", json!({ "_meta": version })).await, @r#"
    {
      "code": -32602,
      "data": {
        "error_code": "VALIDATION_ERROR"
      },
      "message": "params._meta: must carry io.modelcontextprotocol/clientCapabilities"
    }
    "#);
}

#[tokio::test]
async fn a_version_that_is_not_spoken_is_answered_with_those_that_are() {
    for version in ["2025-11-25", "2027-01-01", "", "x"] {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let error = refused("tools/list", json!({ "_meta": meta })).await;
        assert_eq!(error["code"], -32022, "{version:?}");
        assert_eq!(error["data"]["requested"], version);
        let spoken = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];
        assert_eq!(error["data"]["supported"], json!(spoken));
    }
}

#[tokio::test]
async fn a_method_that_is_not_there_is_named() {
    insta::assert_json_snapshot!(refused("tools/search", json!({})).await, @r#"
    {
      "code": -32601,
      "data": {
        "error_code": "METHOD_NOT_ALLOWED"
      },
      "message": "unknown method \"tools/search\" in MCP 2026-07-28"
    }
    "#);
    for removed in ["initialize", "ping", "logging/setLevel", "resources/subscribe", ""] {
        assert_eq!(refused(removed, json!({})).await["code"], -32601, "{removed}");
    }
}

#[tokio::test]
async fn parameters_of_another_form_are_refused_with_the_field() {
    for (method, params, field) in [
        ("tools/call", json!({}), "name"),
        ("prompts/get", json!({ "arguments": {} }), "name"),
        ("resources/read", json!({}), "uri"),
        ("completion/complete", json!({ "ref": { "type": "ref/prompt", "name": "greet" } }), "argument"),
        ("subscriptions/listen", json!({}), "notifications"),
    ] {
        let answer = client().ask(method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(field), "{method}: {message}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_not_found() {
    insta::assert_json_snapshot!(client().ask("tools/call", json!({ "name": "seek" })).await, @r#"
    {
      "error": {
        "code": -32602,
        "data": {
          "error_code": "TOOL_NOT_FOUND",
          "name": "seek"
        },
        "message": "unknown tool \"seek\"; tools/list lists all tools"
      }
    }
    "#);
}
