//! No panic reaches a client, and the server keeps running.

use lyceum_model::Access;
use serde_json::{Value, json};

use super::{Client, SHELF, spec, tool};
use crate::{
    PromptEntry, Registry, ResourceEntry, TemplateEntry, ToolEntry, ToolSpec,
    mcp::{PromptArgument, ResourceTemplate, WirePrompt, WireResource},
};

/// Everything panics, at once or after a while, except the tool `good`.
fn client() -> Client {
    let open = || Access::public(SHELF);
    let panics = |spec: ToolSpec| ToolEntry::new(spec, |_, _| async { panic!("the key is 1234") }).unwrap();
    let at_once =
        |spec: ToolSpec| ToolEntry::new(spec, |_, _| -> std::future::Ready<_> { panic!("{}", 1234) });
    let later = |spec: ToolSpec| {
        ToolEntry::new(spec, |_, _| async {
            tokio::task::yield_now().await;
            panic!("the key is 1234")
        })
    };
    let wire = WirePrompt::new("prompt", None::<&str>, Some(vec![PromptArgument::new("a")]));
    let prompt = PromptEntry::new(open(), wire, |_, _| async { panic!("the key is 1234") });
    let fixed = ResourceEntry::new(open(), WireResource::new("a://b", "b"), |_, _| async {
        panic!("the key is 1234")
    });
    let family = ResourceTemplate::new("b://{a}", "b");
    let family = TemplateEntry::new(open(), family, |_, _| async { panic!("the key is 1234") }).unwrap();
    let registry = Registry::builder()
        .tool_entry(tool(spec("good")))
        .and_then(|all| all.tool_entry(panics(spec("panics"))))
        .and_then(|all| all.tool_entry(at_once(spec("at_once"))?))
        .and_then(|all| all.tool_entry(later(spec("later"))?))
        .and_then(|all| all.prompt(prompt.completed_by(|_, _| panic!("the key is 1234"))))
        .and_then(|all| all.resource(fixed))
        .and_then(|all| all.template(family.completed_by(|_, _| panic!("the key is 1234"))));
    Client::of(registry.unwrap().build())
}

/// Checks that the panic is an internal error that reveals nothing, and that the next call succeeds.
async fn check(method: &str, params: Value) {
    let client = client();
    let answer = client.ask(method, params.clone()).await;
    let code = &answer["error"]["data"]["error_code"];
    let code = code.as_str().or_else(|| answer["_meta"]["lyceum/error_code"].as_str());
    assert_eq!(code, Some("INTERNAL_ERROR"), "{params}: {answer}");
    assert_eq!(super::said_in(&answer), "an unexpected error occurred");
    assert!(!answer.to_string().contains("1234"), "{answer}");
    assert_eq!(client.call("good", json!({})).await, "done");
}

#[tokio::test]
async fn a_panic_in_the_work_is_contained() {
    check("tools/call", json!({ "name": "panics" })).await;
    check("tools/call", json!({ "name": "at_once" })).await;
    check("tools/call", json!({ "name": "later" })).await;
    check("prompts/get", json!({ "name": "prompt" })).await;
    check("resources/read", json!({ "uri": "a://b" })).await;
    check("resources/read", json!({ "uri": "b://c" })).await;
}

#[tokio::test]
async fn a_panic_in_a_completion_is_contained() {
    let argument = json!({ "name": "a", "value": "" });
    let prompt = json!({ "type": "ref/prompt", "name": "prompt" });
    check("completion/complete", json!({ "ref": prompt, "argument": argument })).await;
    let family = json!({ "type": "ref/resource", "uri": "b://{a}" });
    check("completion/complete", json!({ "ref": family, "argument": argument })).await;
}
