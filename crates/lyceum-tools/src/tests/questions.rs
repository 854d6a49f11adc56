//! Elicitation: requests for user input, only sent to clients that declared the capability.

use serde_json::{Value, json};

use super::{Client, ToolResult, said, spec, tools, working};
use crate::{Faults, NeedInput, Outcome, ToolEntry, ToolSpec, mcp::InputRequest};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub(super) fn question(method: &str) -> InputRequest {
    let params = match method {
        "elicitation/create" => json!({
            "mode": "form",
            "message": "Who comes?",
            "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
        }),
        "sampling/createMessage" => json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Who comes?" } }],
            "maxTokens": 10,
        }),
        _ => json!({}),
    };
    serde_json::from_value(json!({ "method": method, "params": params })).unwrap()
}

/// A tool that asks who comes, and stores the day in its state.
pub(super) fn booking(name: &str) -> ToolEntry {
    working(spec(name), |call| {
        let who = call.input().answer::<Value>("who");
        match (who, &call.input().state) {
            (Some(who), Some(state)) => said(format!("{} on {}", who["content"]["name"], state["day"])),
            _ => {
                let need = NeedInput::ask("who", question("elicitation/create"));
                Ok(Outcome::NeedInput(need.with_state(json!({ "day": "Monday" }))))
            }
        }
    })
}

/// The input responses of the second round.
pub(super) fn answers() -> Value {
    json!({ "who": { "action": "accept", "content": { "name": "Ada" } } })
}

pub(super) fn able(client: Client) -> Client {
    client.saying(CAPABILITIES, json!({ "elicitation": {} }))
}

#[tokio::test]
async fn a_call_that_needs_input_says_so_and_goes_on_with_it() {
    let client = able(Client::of(tools([booking("book")])));
    let asked = client.ask("tools/call", json!({ "name": "book" })).await;
    insta::assert_json_snapshot!(asked, { ".requestState" => "[sealed]" }, @r#"
    {
      "inputRequests": {
        "who": {
          "method": "elicitation/create",
          "params": {
            "message": "Who comes?",
            "mode": "form",
            "requestedSchema": {
              "properties": {
                "name": {
                  "type": "string"
                }
              },
              "type": "object"
            }
          }
        }
      },
      "requestState": "[sealed]",
      "resultType": "input_required"
    }
    "#);
    let state = &asked["requestState"];
    let params = json!({ "name": "book", "requestState": state, "inputResponses": answers() });
    assert_eq!(super::said_in(&client.ask("tools/call", params).await), r#""Ada" on "Monday""#);
}

#[tokio::test]
async fn a_question_without_state_leaves_none() {
    let ask = |_: &_| Ok(Outcome::NeedInput(NeedInput::ask("who", question("elicitation/create"))));
    let client = able(Client::of(tools([working(spec("ask"), ask)])));
    let asked = client.ask("tools/call", json!({ "name": "ask" })).await;
    assert_eq!(asked.get("requestState"), None);
    assert_eq!(asked["resultType"], "input_required");
}

/// The response to a client with those capabilities, from a tool that sends those requests.
async fn asked(capabilities: Value, methods: &'static [&'static str]) -> Value {
    let ask = move |_: &_| -> ToolResult {
        let requests = methods.iter().map(|method| ((*method).to_owned(), question(method))).collect();
        Ok(Outcome::NeedInput(NeedInput { requests, state: None }))
    };
    let client = Client::of(tools([working(spec("ask"), ask)])).saying(CAPABILITIES, capabilities);
    client.ask("tools/call", json!({ "name": "ask" })).await
}

#[tokio::test]
async fn a_client_that_can_not_answer_is_told_what_it_lacks() {
    insta::assert_json_snapshot!(asked(json!({}), &["elicitation/create"]).await, @r#"
    {
      "error": {
        "code": -32021,
        "data": {
          "error_code": "VALIDATION_ERROR",
          "requiredCapabilities": {
            "elicitation": {}
          }
        },
        "message": "Missing required client capability"
      }
    }
    "#);
    let all = &["elicitation/create", "sampling/createMessage", "roots/list"];
    for (can, lacks) in [
        (json!({}), json!({ "elicitation": {}, "sampling": {}, "roots": {} })),
        (json!({ "elicitation": {} }), json!({ "sampling": {}, "roots": {} })),
        (json!({ "sampling": {} }), json!({ "elicitation": {}, "roots": {} })),
        (json!({ "roots": {} }), json!({ "elicitation": {}, "sampling": {} })),
    ] {
        assert_eq!(asked(can, all).await["error"]["data"]["requiredCapabilities"], lacks);
    }
    let able = asked(json!({ "elicitation": {}, "sampling": {}, "roots": {} }), all).await;
    assert_eq!(able["resultType"], "input_required");
}

#[tokio::test]
async fn a_call_that_asks_nothing_is_a_fault_of_ours() {
    insta::assert_json_snapshot!(asked(json!({ "elicitation": {} }), &[]).await, @r#"
    {
      "error": {
        "code": -32603,
        "data": {
          "error_code": "INTERNAL_ERROR"
        },
        "message": "an unexpected error occurred"
      }
    }
    "#);
}

#[tokio::test]
async fn a_client_that_can_not_answer_is_told_by_the_protocol_whatever_the_tool_says() {
    for faults in [Faults::InResult, Faults::AsProtocolError] {
        let ask = |_: &_| Ok(Outcome::NeedInput(NeedInput::ask("who", question("elicitation/create"))));
        let client = Client::of(tools([working(ToolSpec { faults, ..spec("ask") }, ask)]));
        let answer = client.ask("tools/call", json!({ "name": "ask" })).await;
        assert_eq!(answer["error"]["code"], -32021, "{faults:?}: {answer}");
    }
}
