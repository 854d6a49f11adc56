//! Clients that try to exhaust the memory of the server: streams, bodies and connections are limited.

use std::{path::Path, sync::Arc};

use lyceum_model::{Access, Domain};
use lyceum_tools::{
    Error, Hub, Outcome, Registry, TemplateEntry,
    mcp::{ReadResourceResult, ResourceTemplate},
};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::app::{
    Older, Request, Settings, TestApp, call, fixture, get, hub, modern, post, spec, tool, within,
};

const KIB: usize = 1024;

fn listen(addresses: &[String]) -> Request {
    modern("subscriptions/listen", &json!({ "notifications": { "resourceSubscriptions": addresses } }))
}

/// The URIs that a subscription acknowledges.
async fn acknowledged(app: &TestApp, addresses: &[String]) -> Vec<Value> {
    let mut stream = app.open(listen(addresses)).await;
    let event = stream.event().await.unwrap();
    event["params"]["notifications"]["resourceSubscriptions"].as_array().cloned().unwrap_or_default()
}

/// A template for which every URI exists, whatever its length.
fn endless() -> Arc<Hub> {
    let wire = ResourceTemplate::new("large://{name}", "large");
    let empty = |_, _| async { Ok::<_, Error>(Outcome::Done(ReadResourceResult::new(Vec::new()))) };
    let template = TemplateEntry::new(Access::public(Domain::from_static("test")), wire, empty).unwrap();
    Arc::new(Hub::new(Registry::builder().template(template).unwrap().build()))
}

fn large(count: usize, bytes: usize) -> Vec<String> {
    (0..count).map(|number| format!("large://{number:04}{}", "x".repeat(bytes - 12))).collect()
}

/// P4: 500 URIs of 8,000 bytes that only match a template were held as long as the stream was open.
#[tokio::test]
async fn s4_only_addresses_of_what_exists_are_subscribed_to() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example");
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("pdf");
    std::fs::create_dir(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "---\nname: pdf\ndescription: Reads PDF.\n---\n").unwrap();
    let skills = folder.path();
    let app = TestApp::product_of(&format!(
        "[[source]]\nname = \"kb\"\npath = {example:?}\n[[source]]\nname = \"s\"\npath = {skills:?}\n\
         [knowledge]\nsource = \"kb\"\ntitle = \"kb\"\n[skills]\nsource = \"s\""
    ))
    .await;
    let ready = async || app.send(get("/readyz")).await.status == 200;
    within("everything is read", async { while !ready().await {} }).await;
    let entries = app.send(get("/api/v1/entries?limit=1")).await.json();
    let (kind, id) = (&entries["entries"][0]["contentType"], &entries["entries"][0]["id"]);
    let there = ["skill://pdf/SKILL.md".to_owned(), format!("mcp://kb/content/{}/{}", text(kind), text(id))];
    let mut wanted: Vec<String> =
        (0..500).map(|number| format!("skill://{}{number}", "x".repeat(8_000))).collect();
    wanted.extend(["mcp://kb/lexicon/none", "mcp://kb/content/pattern/none"].map(str::to_owned));
    wanted.extend(there.iter().chain(&there).cloned());
    assert_eq!(acknowledged(&app, &wanted).await, there);
    let session = Older::open(&app, "2025-11-25").await;
    for (uri, is_there) in wanted.iter().rev().take(8).map(|uri| (uri, there.contains(uri))) {
        let answer = app.send(session.request("resources/subscribe", &json!({ "uri": uri }))).await;
        assert_eq!(answer.message().get("result").is_some(), is_there, "{answer:?}");
    }
    app.stop().await;
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[tokio::test]
async fn s4_a_stream_and_a_session_keep_64_kib_of_addresses() {
    let app = TestApp::with(endless(), Settings::default()).await;
    assert_eq!(acknowledged(&app, &large(200, 8 * KIB)).await.len(), 8);
    assert_eq!(acknowledged(&app, &vec![large(1, 100).remove(0); 200]).await.len(), 1, "each once");
    let session = Older::open(&app, "2025-11-25").await;
    for (number, uri) in large(10, 8 * KIB).iter().enumerate() {
        let answer = app.send(session.request("resources/subscribe", &json!({ "uri": uri }))).await;
        let message = answer.message();
        let code = message.pointer("/error/data/error_code");
        assert_eq!(code, (number >= 8).then_some(&json!("VALIDATION_ERROR")), "{number}");
    }
    app.stop().await;
}

#[tokio::test]
async fn s4_all_subscriptions_share_one_budget() {
    let app = TestApp::with(endless(), Settings::limits("buffer_bytes = 1048576")).await;
    let mut streams = Vec::new();
    // In-flight bodies count too, so it is not known which subscription is refused first.
    let refused = loop {
        let stream = app.open(listen(&large(8, 8 * KIB))).await;
        if stream.headers["content-type"] == "application/json" {
            break stream.whole().await;
        }
        assert!(streams.len() < 16, "more than the budget");
        streams.push(stream);
    };
    assert!(streams.len() > 8, "{}", streams.len());
    assert_eq!(refused.message()["error"]["data"]["error_code"], "UNAVAILABLE", "{refused:?}");
    drop(streams);
    let accepted =
        async || app.open(listen(&large(8, 8 * KIB))).await.headers["content-type"] == "text/event-stream";
    within("the budget comes back", async { while !accepted().await {} }).await;
    app.stop().await;
}

#[tokio::test]
async fn s4_bodies_under_way_share_one_budget_and_small_ones_are_free() {
    let app = TestApp::with(fixture(), Settings::limits("buffer_bytes = 1048576\nread_seconds = 60")).await;
    let mut holding = app.connect().await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n";
    holding.write_all(head.as_bytes()).await.unwrap();
    holding.write_all(&vec![b' '; 1000 * KIB]).await.unwrap();
    let padded = |bytes: usize| {
        post("/tools/add/call", [r#"{"arguments":{"a":1,"b":2}}"#, &" ".repeat(bytes)].concat())
    };
    let refused = async || app.send(padded(100 * KIB)).await.status == 503;
    within("the budget is spent", async { while !refused().await {} }).await;
    let answer = app.send(padded(100 * KIB)).await;
    assert_eq!(answer.json()["error"]["code"], "UNAVAILABLE", "{answer:?}");
    assert_eq!(app.send(padded(8 * KIB)).await.status, 200);
    assert_eq!(app.send(call("add", &json!({ "a": 1, "b": 2 }))).await.status, 200);
    drop(holding);
    let accepted = async || app.send(padded(100 * KIB)).await.status == 200;
    within("the budget comes back", async { while !accepted().await {} }).await;
    app.stop().await;
}

/// S4: one address could take all connection slots, and then not even `/livez` responded.
#[tokio::test]
async fn s4_probes_are_answered_when_all_places_are_taken() {
    let tools = [tool(spec("any"), |_| async { Ok::<_, Error>("done".to_owned()) })];
    let app = TestApp::with(hub(tools), Settings::limits("connections = 2")).await;
    let held = [app.open(listen(&[])).await, app.open(listen(&[])).await];
    for _ in 0..3 {
        for probe in ["/livez", "/readyz", "/health"] {
            assert_eq!(app.send(get(probe)).await.status, 200, "{probe}");
        }
        let answer = app.send(get("/tools")).await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, "1"), "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], "UNAVAILABLE");
    }
    drop(held);
    let served = async || app.send(get("/tools")).await.status == 200;
    within("others are served", async { while !served().await {} }).await;
    app.stop().await;
}
