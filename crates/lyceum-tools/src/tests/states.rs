//! Sealed state is only valid for the caller, the call and the server that it was made for.

use std::sync::Arc;

use lyceum_model::{Access, Caller, MCP_READ, Tier};
use serde_json::{Value, json};

use super::{
    Client, SHELF,
    questions::{able, answers, booking, question},
};
use crate::{
    Hub, NeedInput, Outcome, PromptEntry, Registry,
    mcp::{Identity, Implementation, Mcp, Seal, WirePrompt},
};

/// Two tools and a prompt that ask for input, as the caller Ada.
fn client() -> Client {
    let wire = WirePrompt::new("book", None::<&str>, None);
    let prompt = PromptEntry::new(Access::public(SHELF), wire, |_, _| async {
        Ok(Outcome::NeedInput(NeedInput::ask("who", question("elicitation/create"))))
    });
    let builder =
        Registry::builder().tool_entry(booking("book")).unwrap().tool_entry(booking("cancel")).unwrap();
    able(Client::of(builder.prompt(prompt).unwrap().build())).called_by(known("ada"))
}

fn known(subject: &str) -> Caller {
    Caller::known(subject, Tier::Public, [MCP_READ])
}

/// The parameters of the second round, with the state of the first.
async fn second_round(client: &Client) -> Value {
    let first = json!({ "name": "book", "arguments": { "seat": "1" } });
    let asked = client.ask("tools/call", first.clone()).await;
    let mut params = first;
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = answers();
    params
}

#[track_caller]
fn check_refused(answer: &Value) {
    let text = "requestState: not issued by this server for this call, or expired; retry without it";
    assert_eq!(answer["error"]["message"], text, "{answer}");
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn a_state_is_good_for_the_call_it_was_made_for() {
    let client = client();
    let params = second_round(&client).await;
    let answer = client.ask("tools/call", params).await;
    assert_eq!(super::said_in(&answer), r#""Ada" on "Monday""#);
}

#[tokio::test]
async fn a_state_is_not_good_for_another_caller() {
    let client = client();
    let params = second_round(&client).await;
    for other in [known("eve"), Caller::anonymous(), Caller::trusted()] {
        check_refused(&client.called_by(other).ask("tools/call", params.clone()).await);
    }
}

#[tokio::test]
async fn a_state_is_not_good_for_another_call() {
    let client = client();
    let params = second_round(&client).await;
    let with = |key: &str, value: Value| {
        let mut params = params.clone();
        params[key] = value;
        params
    };
    check_refused(&client.ask("tools/call", with("name", json!("cancel"))).await);
    check_refused(&client.ask("tools/call", with("arguments", json!({ "seat": "2" }))).await);
    check_refused(&client.ask("tools/call", with("arguments", json!({}))).await);
    check_refused(&client.ask("prompts/get", params).await);
}

#[tokio::test]
async fn a_state_that_was_changed_anywhere_is_refused() {
    let client = client();
    let params = second_round(&client).await;
    let state = params["requestState"].as_str().unwrap();
    let changed_at = |at: usize| {
        let other = if &state[at..=at] == "A" { "B" } else { "A" };
        format!("{}{other}{}", &state[..at], &state[at + 1..])
    };
    let cut = ["", "A", &state[1..], &state[..state.len() - 1], &state.repeat(2)].map(str::to_owned);
    for forged in (0..state.len()).map(changed_at).chain(cut) {
        let mut params = params.clone();
        params["requestState"] = json!(forged);
        check_refused(&client.ask("tools/call", params).await);
    }
}

#[tokio::test]
async fn a_state_of_another_server_is_refused() {
    let here = client();
    let identity = Identity { implementation: Implementation::new("other", "0"), instructions: Vec::new() };
    let hub = Arc::new(Hub::new(super::tools([booking("book")])));
    let there = Client { mcp: Mcp::new(hub, identity, Seal::new([8; 32])), ..client() };
    check_refused(&here.ask("tools/call", second_round(&there).await).await);
}
