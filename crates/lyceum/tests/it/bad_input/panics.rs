//! A panic is an internal error without any detail, and affects nobody else.

use std::sync::Arc;

use lyceum_model::{Access, Domain};
use lyceum_tools::{
    Faults, Hub, PromptEntry, Registry, ResourceEntry, ToolSpec,
    mcp::{PromptArgument, WirePrompt, WireResource},
};
use serde_json::{Value, json};

use super::check;
use crate::app::{Older, Request, Settings, TestApp, call, modern, post, spec, tool};

const INTERNAL_ERROR: i64 = -32603;
const SECRET: &str = "the password is swordfish";

/// A registry in which everything panics.
fn trap() -> Arc<Hub> {
    let access = || Access::public(Domain::from_static("trap"));
    let at_once = tool(spec("panics_at_once"), |_| {
        panic!("{SECRET}");
        #[expect(unreachable_code, reason = "gives the closure a future to return")]
        async {
            Ok(String::new())
        }
    });
    let later = tool(spec("panics_later"), |_| async {
        tokio::task::yield_now().await;
        panic!("{SECRET}")
    });
    let told_in_result = ToolSpec { faults: Faults::InResult, ..spec("panics_for_the_model") };
    let told_in_result = tool(told_in_result, |_| async { panic!("{SECRET}") });
    let argument = PromptArgument::new("city");
    let prompt = PromptEntry::new(
        access(),
        WirePrompt::new("panics", None::<String>, Some(vec![argument])),
        |_, _| async { panic!("{SECRET}") },
    )
    .completed_by(|_, _| panic!("{SECRET}"));
    let resource = WireResource::new("trap://panics", "panics");
    let resource = ResourceEntry::new(access(), resource, |_, _| async { panic!("{SECRET}") });
    let builder = Registry::builder().tool_entry(at_once).and_then(|b| b.tool_entry(later));
    let builder = builder.and_then(|b| b.tool_entry(told_in_result)).and_then(|b| b.prompt(prompt));
    Arc::new(Hub::new(builder.and_then(|b| b.resource(resource)).unwrap().build()))
}

fn keeps_the_secret(text: &str) {
    assert!(!text.contains("password") && !text.contains("panic"), "{text}");
}

async fn check_told(app: &TestApp, request: Request) {
    let message = check(app, request, 200, INTERNAL_ERROR).await;
    assert_eq!(message["error"]["data"], json!({ "error_code": "INTERNAL_ERROR" }));
    keeps_the_secret(&message["error"].to_string());
}

#[tokio::test]
async fn a_tool_that_panics_is_an_internal_error_without_detail() {
    let app = TestApp::with(trap(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    for name in ["panics_at_once", "panics_later"] {
        check_told(&app, call(name, &json!({}))).await;
        check_told(&app, session.call(name, &json!({}))).await;
        let answer = app.send(post(&format!("/tools/{name}/call"), "{}")).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (500, &json!("INTERNAL_ERROR")));
        keeps_the_secret(answer.text());
    }
    app.stop().await;
}

#[tokio::test]
async fn a_panic_told_to_the_model_has_no_detail() {
    let app = TestApp::with(trap(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let name = "panics_for_the_model";
    for request in [call(name, &json!({})), session.call(name, &json!({}))] {
        let result = app.send(request).await.result();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "an unexpected error occurred");
        assert_eq!(result["_meta"]["lyceum/error_code"], "INTERNAL_ERROR");
    }
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_prompt_or_resource_that_panics_is_an_internal_error() {
    let app = TestApp::with(trap(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    for (method, params) in
        [("prompts/get", json!({ "name": "panics" })), ("resources/read", json!({ "uri": "trap://panics" }))]
    {
        check_told(&app, session.request(method, &params)).await;
        check_told(&app, modern(method, &params)).await;
    }
    app.stop().await;
}

fn completion() -> Value {
    json!({
        "ref": { "type": "ref/prompt", "name": "panics" },
        "argument": { "name": "city", "value": "P" },
    })
}

#[tokio::test]
async fn a_completion_that_panics_is_an_internal_error() {
    let app = TestApp::with(trap(), Settings::default()).await;
    check_told(&app, modern("completion/complete", &completion())).await;
    app.stop().await;
}

#[tokio::test]
async fn a_completion_that_panics_in_a_session_is_an_internal_error() {
    let app = TestApp::with(trap(), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    check_told(&app, session.request("completion/complete", &completion())).await;
    app.stop().await;
}
