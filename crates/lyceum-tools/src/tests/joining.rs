//! Several services: each contributes its own registry.

use std::sync::Arc;

use lyceum_model::{Access, Domain, ErrorCode};
use serde_json::{Value, json};

use super::{Client, object, prompt, spec, tool};
use crate::{
    CallContext, Change, Error, ExtensionEntry, Hub, Merge, MethodEntry, Outcome, Prefix, PromptEntry,
    Registry, RegistryBuilder, ToolEntry, ToolSpec, View,
    mcp::{GetPromptResult, JsonObject, PromptMessage, Role, WirePrompt},
};

const A: Domain = Domain::from_static("a");
const B: Domain = Domain::from_static("b");

fn named(domain: Domain, name: &str) -> ToolSpec {
    ToolSpec { access: Access::public(domain), description: "See find and fetch.".to_owned(), ..spec(name) }
}

fn offer(domain: Domain, prefix: &str) -> Registry {
    let greet = prompt(Access::public(domain.clone()), WirePrompt::new("greet", None::<&str>, None));
    let builder: RegistryBuilder = Registry::builder().prefixed(&Prefix::parse(prefix).unwrap());
    let builder = builder.tool_entry(tool(named(domain.clone(), "find"))).unwrap();
    builder.tool_entry(tool(named(domain, "fetch"))).unwrap().prompt(greet).unwrap().build()
}

#[test]
fn two_services_with_the_same_tools_need_a_prefix() {
    let error = Hub::join([(A, offer(A, "")), (B, offer(B, ""))], None).unwrap_err().to_string();
    assert!(error.contains("prefix = \"b_\""), "{error}");
    let hub = Hub::join([(A, offer(A, "")), (B, offer(B, "b_"))], None).unwrap();
    let view = View::of_all(hub.registry(), Arc::new(lyceum_model::Caller::trusted()));
    let names: Vec<&str> = view.tools().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(names, ["b_fetch", "b_find", "fetch", "find"]);
    let described = |name: &str| view.tool(name).unwrap().spec().description.clone();
    assert_eq!(described("b_find"), "See b_find and b_fetch.");
    assert_eq!(described("find"), "See find and fetch.");
    let prompts = view.prompt_page(None).unwrap().entries;
    assert_eq!(
        prompts.iter().map(|prompt| prompt.wire.name.as_str()).collect::<Vec<_>>(),
        ["b_greet", "greet"]
    );
}

#[tokio::test]
async fn a_tool_is_called_by_the_name_with_its_prefix() {
    let client = Client::of(offer(A, "docs_"));
    assert_eq!(client.call("docs_find", json!({})).await, "done");
    let refused = client.call("find", json!({})).await;
    assert!(refused.contains("find") && refused != "done", "{refused}");
}

#[test]
fn an_offer_that_changes_compiles_nothing_of_the_others_and_announces_what_differs() {
    let hub = Hub::join([(A, offer(A, "")), (B, offer(B, "b_"))], None).unwrap();
    let before = hub.registry();
    let mut changes = hub.changes();
    hub.offer(&B, Registry::default()).unwrap();
    let after = hub.registry();
    assert!(Arc::ptr_eq(&before.tools["find"], &after.tools["find"]), "the entry was rebuilt");
    assert!(!after.tools.contains_key("b_find"));
    let announced: Vec<Change> = std::iter::from_fn(|| changes.try_recv().ok()).collect();
    assert_eq!(announced, [Change::Tools, Change::Prompts]);
}

#[test]
fn an_offer_that_can_not_stand_beside_the_others_changes_nothing() {
    let hub = Hub::join([(A, offer(A, "")), (B, offer(B, "b_"))], None).unwrap();
    let mut changes = hub.changes();
    assert!(hub.offer(&B, offer(B, "")).is_err());
    assert!(hub.registry().tools.contains_key("b_find"));
    assert!(changes.try_recv().is_err(), "nothing is announced");
}

#[test]
fn each_service_has_its_own_extension_at_its_own_endpoint() {
    let extension = |domain: Domain| {
        let list =
            MethodEntry::new(Access::public(domain.clone()), "notes/list", |_, params| async { Ok(params) });
        let entry = ExtensionEntry::new(Access::public(domain), "com.example/notes", JsonObject::new());
        Registry::builder().extension(entry.method(list)).unwrap().build()
    };
    let hub = Hub::join([(B, extension(B)), (A, extension(A))], None).unwrap();
    let caller = Arc::new(lyceum_model::Caller::trusted());
    let domain = |view: &View| view.method("notes/list").map(|method| method.access.domain.clone());
    assert_eq!(domain(&View::of_all(hub.registry(), caller.clone())), Some(B), "the first service is used");
    for own in [A, B] {
        let view = View::of_service(hub.registry(), caller.clone(), own.as_str()).unwrap();
        assert_eq!((domain(&view), view.extensions().count()), (Some(own), 1));
    }
}

/// A service with notes: a page holds two of them, and `None` stands for a service that is unavailable.
fn notes(domain: &Domain, notes: Option<&'static [&'static str]>) -> Registry {
    let access = Access::public(domain.clone());
    let unavailable = || Error::Failed { code: ErrorCode::Unavailable, message: "try again".to_owned() };
    let list = MethodEntry::new(access.clone(), "notes/list", move |_, params| async move {
        let start = params.get("cursor").map_or(0, |cursor| cursor.as_str().unwrap().parse().unwrap());
        let rest = &notes.ok_or_else(unavailable)?[start..];
        let mut page = object(json!({ "notes": rest.iter().take(2).collect::<Vec<_>>() }));
        if rest.len() > 2 {
            page.insert("nextCursor".to_owned(), (start + 2).to_string().into());
        }
        Ok(page)
    });
    let get = MethodEntry::new(access.clone(), "notes/get", move |_, params| async move {
        let is_here = notes.ok_or_else(unavailable)?.iter().any(|note| params["note"] == *note);
        let message = "no such note".to_owned();
        if is_here { Ok(params) } else { Err(Error::Failed { code: ErrorCode::NotFound, message }) }
    });
    let entry = ExtensionEntry::new(access, "com.example/notes", JsonObject::new());
    let entry = entry.method(list.merged_by(Merge::Pages)).method(get);
    Registry::builder().extension(entry).unwrap().build()
}

fn all(services: [(Domain, Option<&'static [&'static str]>); 2]) -> View {
    let offers = services.into_iter().map(|(domain, of)| (domain.clone(), notes(&domain, of)));
    let hub = Hub::join(offers.collect::<Vec<_>>(), None).unwrap();
    View::of_all(hub.registry(), Arc::new(lyceum_model::Caller::trusted()))
}

/// All notes, page by page.
async fn listed(view: &View) -> Vec<Value> {
    let (mut notes, mut params) = (Vec::new(), JsonObject::new());
    for _ in 0..10 {
        let page = view.call_method("notes/list", params.clone(), CallContext::default()).await.unwrap();
        notes.extend(page["notes"].as_array().unwrap().clone());
        let Some(cursor) = page.get("nextCursor") else { return notes };
        params.insert("cursor".to_owned(), cursor.clone());
    }
    panic!("no end: {notes:?}");
}

#[tokio::test]
async fn an_extension_of_several_services_lists_what_all_of_them_have() {
    let view = all([(A, Some(&["a1", "a2", "a3"])), (B, Some(&["b1"]))]);
    assert_eq!(listed(&view).await, ["a1", "a2", "a3", "b1"]);
    let view = all([(A, Some(&[])), (B, Some(&["b1", "b2", "b3", "b4", "b5"]))]);
    assert_eq!(listed(&view).await, ["b1", "b2", "b3", "b4", "b5"]);
    let view = all([(A, None), (B, Some(&["b1"]))]);
    assert_eq!(listed(&view).await, ["b1"], "a service that is unavailable hides no other");
}

#[tokio::test]
async fn an_extension_of_several_services_answers_from_the_one_that_has_it() {
    let get = async |view: &View, note: &str| {
        let params = object(json!({ "note": note }));
        let result = view.call_method("notes/get", params, CallContext::default()).await;
        result.map(|note| note["note"].clone()).map_err(|error| error.code())
    };
    let view = all([(A, Some(&["a1"])), (B, Some(&["b1"]))]);
    assert_eq!(get(&view, "a1").await, Ok(json!("a1")));
    assert_eq!(get(&view, "b1").await, Ok(json!("b1")));
    assert_eq!(get(&view, "c1").await, Err(ErrorCode::NotFound));
    let view = all([(A, None), (B, Some(&["b1"]))]);
    assert_eq!(get(&view, "b1").await, Ok(json!("b1")));
    assert_eq!(get(&view, "c1").await, Err(ErrorCode::Unavailable), "the other one may have it");
}

#[tokio::test]
async fn a_cursor_of_no_service_is_refused() {
    let view = all([(A, Some(&["a1"])), (B, Some(&["b1"]))]);
    for cursor in ["", "a", "c.", "1"] {
        let params = object(json!({ "cursor": cursor }));
        let error = view.call_method("notes/list", params, CallContext::default()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValidationError, "{cursor:?}");
    }
}

#[tokio::test]
async fn texts_that_mention_a_tool_use_the_name_that_clients_can_call() {
    let mut spec = named(A, "find");
    spec.input_schema = object(json!({
        "type": "object",
        "properties": { "id": { "type": "string", "description": "From fetch." } },
    }));
    let find = ToolEntry::new(spec, |_, _| async {
        Err(Error::Failed { code: ErrorCode::NotFound, message: "nothing here; call fetch first".to_owned() })
    });
    let greet = PromptEntry::new(
        Access::public(A),
        WirePrompt::new("greet", Some("Uses find."), None),
        |_, _| async {
            let message = PromptMessage::new_text(Role::User, "Use find and fetch.");
            Ok(Outcome::Done(GetPromptResult::new(vec![message])))
        },
    );
    let builder = Registry::builder().prefixed(&Prefix::parse("docs_").unwrap());
    let builder = builder.tool_entry(find.unwrap()).unwrap().tool_entry(tool(named(A, "fetch"))).unwrap();
    let client = Client::of(builder.prompt(greet).unwrap().build());
    let tools = client.ask("tools/list", json!({})).await;
    assert_eq!(tools["tools"][1]["inputSchema"]["properties"]["id"]["description"], "From docs_fetch.");
    assert!(client.call("docs_find", json!({})).await.contains("call docs_fetch first"));
    let prompts = client.ask("prompts/list", json!({})).await;
    assert_eq!(prompts["prompts"][0]["description"], "Uses docs_find.");
    let prompt = client.ask("prompts/get", json!({ "name": "docs_greet" })).await;
    let text = &prompt["messages"];
    assert_eq!(text[0]["content"]["text"], "Use docs_find and docs_fetch.");
}
