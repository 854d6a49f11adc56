//! Services side by side: each brings its own part of the registry.

use std::sync::Arc;

use lyceum_model::{Access, Domain};
use serde_json::json;

use super::{Client, prompt, spec, tool};
use crate::{
    Change, ExtensionEntry, Hub, MethodEntry, Prefix, Registry, RegistryBuilder, ToolSpec, View,
    mcp::{JsonObject, WirePrompt},
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
    assert!(Arc::ptr_eq(&before.tools["find"], &after.tools["find"]), "it is the very same entry");
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
    assert_eq!(domain(&View::of_all(hub.registry(), caller.clone())), Some(B), "the first speaks for it");
    for own in [A, B] {
        let view = View::of_service(hub.registry(), caller.clone(), own.as_str()).unwrap();
        assert_eq!((domain(&view), view.extensions().count()), (Some(own), 1));
    }
}
