//! Extension methods, in all protocol versions.

use std::sync::Arc;

use lyceum_model::{Access, Domain, KNOWLEDGE_READ, Tier};
use lyceum_testkit::sample_extension;
use lyceum_tools::{Hub, Registry, ToolSpec};
use serde_json::{Value, json};

use crate::app::{Older, Request, Response, Settings, TestApp, modern, post, spec, tool};

const POST: Domain = Domain::from_static("post");

/// The extension with that access, and another service without it.
fn post_office(access: Access) -> Arc<Hub> {
    let other = ToolSpec { access: Access::public(Domain::from_static("kb")), ..spec("read") };
    let builder = Registry::builder().extension(sample_extension(access)).unwrap();
    let builder = builder.tool_entry(tool(other, |_| async { Ok("done".to_owned()) })).unwrap();
    Arc::new(Hub::new(builder.build()))
}

async fn open_to_all(settings: Settings) -> TestApp {
    TestApp::with(post_office(Access::public(POST)), settings).await
}

fn at(path: &str, mut request: Request) -> Request {
    *request.uri_mut() = path.parse().unwrap();
    request
}

/// Sends one request in both protocol versions; returns both responses.
async fn both(app: &TestApp, method: &str, params: Value) -> [Response; 2] {
    let session = Older::open(app, "2025-11-25").await;
    [app.send(modern(method, &params)).await, app.send(session.request(method, &params)).await]
}

async fn check_declared(app: &TestApp, path: &str, declared: &Value) {
    let modern = app.send(at(path, modern("server/discover", &json!({})))).await.result();
    assert_eq!(&modern["capabilities"]["extensions"], declared, "{path}, modern");
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let greeting = app.send(at(path, Older::initialize(version, &json!({})))).await.result();
        assert_eq!(&greeting["capabilities"]["extensions"], declared, "{path}, {version}");
        assert_eq!(greeting["capabilities"]["resources"]["listChanged"], true);
    }
}

#[tokio::test]
async fn an_extension_is_declared_where_its_service_is() {
    let app = open_to_all(Settings::default()).await;
    let declared = json!({ "org.lyceum.test/letters": { "sealed": true } });
    check_declared(&app, "/mcp", &declared).await;
    check_declared(&app, "/post/mcp", &declared).await;
    check_declared(&app, "/kb/mcp", &Value::Null).await;
    app.stop().await;
}

#[tokio::test]
async fn a_method_is_answered_in_both_eras() {
    let app = open_to_all(Settings::default()).await;
    let [modern, older] = both(&app, "letters/get", json!({ "uri": "letter://007" })).await;
    let server = r#"._meta["io.modelcontextprotocol/serverInfo"].version"#;
    insta::assert_json_snapshot!(modern.result(), { server => "[version]" }, @r#"
    {
      "_meta": {
        "io.modelcontextprotocol/serverInfo": {
          "name": "lyceum",
          "version": "[version]"
        }
      },
      "letter": {
        "mimeType": "text/plain",
        "name": "007",
        "uri": "letter://007"
      },
      "reader": "operator",
      "resultType": "complete"
    }
    "#);
    insta::assert_json_snapshot!(older.result(), @r#"
    {
      "letter": {
        "mimeType": "text/plain",
        "name": "007",
        "uri": "letter://007"
      },
      "reader": "operator"
    }
    "#);
    app.stop().await;
}

#[tokio::test]
async fn pages_hold_everything_once_in_both_eras() {
    let app = open_to_all(Settings::default()).await;
    let [first, older] = both(&app, "letters/list", json!({})).await.map(|answer| answer.result());
    let kept = |result: &Value| (result["ttlMs"].clone(), result["cacheScope"].clone());
    assert_eq!(kept(&first), (json!(300_000), json!("public")));
    assert_eq!(kept(&older), (Value::Null, Value::Null));
    assert_eq!(first["letters"], older["letters"]);
    let [second, older] = both(&app, "letters/list", json!({ "cursor": first["nextCursor"] }))
        .await
        .map(|answer| answer.result());
    assert_eq!(second["letters"], older["letters"]);
    assert_eq!([&first, &second].map(|page| page["letters"].as_array().unwrap().len()), [100, 50]);
    assert_eq!((&second["letters"][0]["name"], second.get("nextCursor")), (&json!("100"), None));
    app.stop().await;
}

async fn check_error(app: &TestApp, method: &str, params: Value, status: u16, code: i64) {
    let [modern, older] = both(app, method, params).await;
    assert_eq!(modern.status, status, "{method}");
    for message in [modern.message(), older.message()] {
        assert_eq!(message["error"]["code"], code, "{method}: {message}");
        assert!(!message.to_string().contains("1234"), "{message}");
    }
}

#[tokio::test]
async fn errors_are_the_same_in_both_eras() {
    let app = open_to_all(Settings::default()).await;
    check_error(&app, "letters/get", json!({ "uri": "letter://none" }), 200, -32602).await;
    check_error(&app, "letters/get", json!({}), 200, -32602).await;
    check_error(&app, "letters/get", json!({ "uri": 7 }), 200, -32602).await;
    check_error(&app, "letters/list", json!({ "cursor": "?" }), 200, -32602).await;
    check_error(&app, "letters/burn", json!({}), 200, -32603).await;
    check_error(&app, "letters/read", json!({}), 404, -32601).await;
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_method_that_takes_too_long_is_ended() {
    let app = open_to_all(Settings::limits("call_seconds = 1")).await;
    check_error(&app, "letters/wait", json!({}), 200, 5040).await;
    app.stop().await;
}

#[tokio::test]
async fn progress_streams_before_the_answer_in_both_eras() {
    let app = open_to_all(Settings::default()).await;
    for answer in both(&app, "letters/send", json!({ "to": "a", "_meta": { "progressToken": "t" } })).await {
        let events = answer.events();
        let progress: Vec<&Value> = events.iter().map(|event| &event["params"]["progress"]).collect();
        assert_eq!(progress, [&json!(1.0), &json!(2.0), &Value::Null], "{events:?}");
        assert_eq!(events[2]["result"]["sent"], json!({ "to": "a" }));
    }
    app.stop().await;
}

#[tokio::test]
async fn what_another_service_offers_is_unknown_here() {
    let app = open_to_all(Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let params = json!({ "uri": "letter://007" });
    for (path, code) in [("/post/mcp", Value::Null), ("/kb/mcp", json!(-32601))] {
        for request in [modern("letters/get", &params), session.request("letters/get", &params)] {
            let message = app.send(at(path, request)).await.message();
            assert_eq!(message["error"]["code"], code, "{path}: {message}");
        }
    }
    app.stop().await;
}

#[tokio::test]
async fn an_extension_for_some_keeps_results_from_shared_caches() {
    let members = Access::scoped(POST, Tier::Member, [KNOWLEDGE_READ]);
    let app = TestApp::with(post_office(members), Settings::default()).await;
    let [modern, older] = both(&app, "letters/list", json!({})).await;
    assert_eq!(modern.result()["cacheScope"], "private");
    assert_eq!(older.result()["letters"].as_array().unwrap().len(), 100);
    app.stop().await;
}

#[tokio::test]
async fn a_body_without_parameters_is_one_with_none() {
    let app = open_to_all(Settings::default()).await;
    let session = Older::open(&app, "2025-11-25").await;
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "letters/list" });
    assert_eq!(app.send(session.message(&bare)).await.result()["letters"].as_array().unwrap().len(), 100);
    let odd = json!({ "jsonrpc": "2.0", "id": 1, "method": "letters/list", "params": [1] });
    assert_eq!(app.send(post("/mcp", odd.to_string())).await.message()["error"]["code"], -32602);
    app.stop().await;
}
