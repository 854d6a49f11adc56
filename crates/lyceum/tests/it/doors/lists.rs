//! Lists: stable order, pagination, cache scope.

use std::sync::Arc;

use lyceum_model::{Access, Domain, KNOWLEDGE_READ, Scope, Tier};
use lyceum_tools::{
    Hub, Outcome, Registry, TemplateEntry, ToolEntry, ToolSpec,
    mcp::{ReadResourceResult, ResourceContents, ResourceTemplate},
};
use serde_json::{Value, json};

use crate::app::{Older, Settings, TestApp, hub, modern, spec, tool};

fn idle(spec: ToolSpec) -> ToolEntry {
    tool(spec, |_| async { Ok("done".to_owned()) })
}

fn many(count: usize) -> Arc<Hub> {
    // Registered in another order than their names.
    hub((0..count).rev().map(|number| idle(spec(&format!("tool_{number:03}")))))
}

fn names(result: &Value) -> Vec<String> {
    result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn after(cursor: &Value) -> Value {
    cursor.as_str().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }))
}

#[tokio::test]
async fn pages_hold_every_tool_once_and_in_order() {
    let app = TestApp::with(many(250), Settings::default()).await;
    let session = Older::open(&app, "2025-06-18").await;
    let (mut found, mut found_in_session) = (Vec::new(), Vec::new());
    let mut cursor = Value::Null;
    for size in [100, 100, 50] {
        let page = app.send(modern("tools/list", &after(&cursor))).await.result();
        assert_eq!(names(&page).len(), size);
        found.extend(names(&page));
        let older = app.send(session.request("tools/list", &after(&cursor))).await.result();
        found_in_session.extend(names(&older));
        assert_eq!(page["nextCursor"], older["nextCursor"]);
        cursor = page["nextCursor"].clone();
    }
    assert_eq!(cursor, Value::Null);
    let all: Vec<String> = (0..250).map(|number| format!("tool_{number:03}")).collect();
    assert_eq!(found, all);
    assert_eq!(found_in_session, all);
    app.stop().await;
}

#[tokio::test]
async fn a_list_that_fits_on_a_page_has_no_cursor() {
    for count in [0, 1, 100] {
        let app = TestApp::with(many(count), Settings::default()).await;
        let page = app.send(modern("tools/list", &json!({}))).await.result();
        assert_eq!((names(&page).len(), page.get("nextCursor")), (count, None));
        app.stop().await;
    }
}

#[tokio::test]
async fn a_cursor_of_somebody_else_is_invalid() {
    let app = TestApp::with(many(3), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        for cursor in ["not base64!", "/w", "////"] {
            let params = json!({ "cursor": cursor });
            for request in [session.request(method, &params), modern(method, &params)] {
                let message = app.send(request).await.message();
                assert_eq!(message["error"]["code"], -32602, "{method} {cursor}: {message}");
                assert_eq!(message["error"]["data"]["field"], "cursor");
            }
        }
    }
    app.stop().await;
}

async fn check_scope(access: Access, scope: &str) {
    let restricted = idle(ToolSpec { access, ..spec("restricted") });
    let app = TestApp::with(hub([idle(spec("open")), restricted]), Settings::default()).await;
    for method in
        ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
    {
        let result = app.send(modern(method, &json!({}))).await.result();
        assert_eq!(result["cacheScope"], scope, "{method}");
        assert_eq!(result["ttlMs"], 60_000, "{method}");
        assert_eq!(result["resultType"], "complete", "{method}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_list_that_depends_on_the_caller_is_private() {
    let domain = || Domain::from_static("test");
    let scopes = vec![Scope::parse("kb:write").unwrap()];
    check_scope(Access::public(domain()), "public").await;
    check_scope(Access::scoped(domain(), Tier::Member, [KNOWLEDGE_READ]), "private").await;
    check_scope(Access { scopes, ..Access::public(domain()) }, "private").await;
}

#[tokio::test]
async fn how_long_a_resource_is_kept_is_told_to_modern_clients_only() {
    let wire = ResourceTemplate::new("kb://{page}", "pages");
    let pages = TemplateEntry::new(Access::public(Domain::from_static("kb")), wire, |_, address| async {
        let read = ReadResourceResult::new(vec![ResourceContents::text("", address.uri)]);
        Ok(Outcome::Done(read.with_ttl_ms(5_000)))
    });
    let registry = Registry::builder().template(pages.unwrap()).unwrap().build();
    let app = TestApp::with(Arc::new(Hub::new(registry)), Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let page = json!({ "uri": "kb://a" });
    let read = app.send(modern("resources/read", &page)).await.result();
    assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(5_000), &json!("public")));
    let read = app.send(session.request("resources/read", &page)).await.result();
    assert_eq!((read.get("ttlMs"), read.get("cacheScope"), read["contents"].is_array()), (None, None, true));
    app.stop().await;
}
