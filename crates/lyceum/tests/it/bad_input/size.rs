//! Bodies and heads that exceed the limits.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::app::{Older, Response, Settings, TestApp, call, fixture, post, within};

const HUNDRED_MEGABYTES: usize = 100 * 1024 * 1024;
const CHUNK: usize = 64 * 1024;

/// Sends a body of 100 MB until a response arrives; returns it and how much was sent by then.
async fn pour(mut stream: TcpStream, head: &str, part: &[u8]) -> (Response, usize) {
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let mut sent = 0;
    let mut text = Vec::new();
    let pouring = async {
        while sent < HUNDRED_MEGABYTES && writer.write_all(part).await.is_ok() {
            sent += CHUNK;
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        // A connection that is reset after the response is fine.
        while reader.read_buf(&mut text).await.is_ok_and(|count| count > 0) {}
    };
    tokio::select! {
        () = within("the body is refused", reading) => {}
        () = pouring => {}
    }
    (Response::parse(&text), sent)
}

async fn check(path: &str, length: &str, part: &[u8], pointer: &str, code: serde_json::Value) {
    let app = TestApp::with(fixture(), Settings::limits("body_bytes = 1048576")).await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{length}\r\n\r\n"
    );
    let (answer, sent) = pour(app.connect().await, &head, part).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    assert_eq!(answer.json().pointer(pointer), Some(&code), "{answer:?}");
    assert!(sent < HUNDRED_MEGABYTES / 2, "{sent} bytes were taken");
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_body_that_says_it_is_too_large_is_refused_unread() {
    let part = vec![b' '; CHUNK];
    let length = format!("Content-Length: {HUNDRED_MEGABYTES}");
    check("/mcp", &length, &part, "/error/code", json!(4130)).await;
    check("/mcp", &length, &part, "/error/data/error_code", json!("PAYLOAD_TOO_LARGE")).await;
    check("/tools/add/call", &length, &part, "/error/code", json!("PAYLOAD_TOO_LARGE")).await;
}

#[tokio::test]
async fn a_body_without_a_length_is_refused_once_it_is_too_large() {
    let mut part = format!("{CHUNK:x}\r\n").into_bytes();
    part.extend_from_slice(&[b' '; CHUNK]);
    part.extend_from_slice(b"\r\n");
    let chunked = "Transfer-Encoding: chunked";
    check("/mcp", chunked, &part, "/error/code", json!(4130)).await;
    check("/mcp", chunked, &part, "/error/data/error_code", json!("PAYLOAD_TOO_LARGE")).await;
    check("/tools/add/call", chunked, &part, "/error/code", json!("PAYLOAD_TOO_LARGE")).await;
}

#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let app = TestApp::with(fixture(), Settings::limits("body_bytes = 2048")).await;
    let padded = |length: usize| format!("{:<length$}", r#"{"arguments":{"a":1,"b":2}}"#);
    for (length, status) in [(2048, 200), (2049, 413)] {
        assert_eq!(app.send(post("/tools/add/call", padded(length))).await.status, status, "{length} bytes");
    }
    app.stop().await;
}

#[tokio::test]
async fn two_hundred_headers_are_too_many() {
    let app = TestApp::start().await;
    let headers: String = (0..200).map(|number| format!("X-Header-{number}: value\r\n")).collect();
    let answer = app.raw(format!("GET /tools HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes()).await;
    assert_eq!(answer.status, 431);
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_head_of_a_megabyte_is_too_large() {
    let app = TestApp::start().await;
    let head = format!("GET /tools HTTP/1.1\r\nHost: localhost\r\nX-Large: {}", "x".repeat(1024 * 1024));
    let mut stream = app.connect().await;
    let mut text = Vec::new();
    // The server may close the connection before it has read everything.
    let _sent = stream.write_all(head.as_bytes()).await;
    let _reset = within("the server hangs up", stream.read_to_end(&mut text)).await;
    assert_eq!(Response::parse(&text).status, 431);
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_waits_for_leave_is_refused_before_it_sends() {
    let app = TestApp::start().await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: {HUNDRED_MEGABYTES}\r\n\r\n"
    );
    assert_eq!(app.raw(head.as_bytes()).await.status, 413);
    app.serves_others().await;
    app.stop().await;
}

#[tokio::test]
async fn a_refusal_does_not_repeat_what_is_large() {
    let app = TestApp::start().await;
    let session = Older::open(&app, "2025-11-25").await;
    let large = "\u{1}".repeat(500_000);
    let mut arguments = json!({ "a": 1, "b": 2 });
    arguments[&large] = json!(1);
    let requests = [
        session.call(&large, &json!({})),
        session.call("add", &arguments),
        session.request("prompts/get", &json!({ "name": large })),
        session.request("resources/read", &json!({ "uri": large })),
        session.request(&large, &json!({})),
        call("add", &arguments),
    ];
    for request in requests {
        let answer = app.send(request).await;
        assert!(answer.body.len() < 16 * 1024, "{} bytes: {:.300}", answer.body.len(), answer.text());
    }
    app.stop().await;
}
