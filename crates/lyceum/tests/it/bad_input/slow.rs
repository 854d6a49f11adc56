//! Clients that send or read too slowly. Each test leaves one connection slot, so that another client is only served
//! fully once the slow one is disconnected.

use std::{sync::Arc, time::Duration};

use lyceum_model::{Access, Domain};
use lyceum_tools::{
    Change, Error, Hub, Outcome, Registry, TemplateEntry,
    mcp::{ReadResourceResult, ResourceTemplate},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::app::{
    Request, Response, Settings, TestApp, body_of, call, fixture, get, hub, modern, open, post, spec, tool,
    within,
};

const ONE_SECOND: Settings =
    Settings { server: "", limits: "read_seconds = 1\nwrite_seconds = 1\nconnections = 1" };

/// Waits until another client is served fully: until then only probes are.
async fn served_soon(app: &TestApp) {
    for request in [get("/tools"), modern("server/discover", &json!({}))] {
        // A busy server may also close a connection in a reserved slot.
        let served = async || open(app.addr, request.clone()).await.is_ok_and(|answer| answer.status == 200);
        within("others are served", async { while !served().await {} }).await;
    }
}

/// Sends a byte now and then until the server closes the connection; returns what it sent.
async fn drip(mut stream: TcpStream, start: &str) -> Vec<u8> {
    stream.write_all(start.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let mut said = Vec::new();
    let dripping = async {
        let mut pause = tokio::time::interval(Duration::from_millis(50));
        while writer.write_all(b"x").await.is_ok() {
            pause.tick().await;
        }
        std::future::pending::<()>().await;
    };
    let reading = async { while reader.read_buf(&mut said).await.is_ok_and(|count| count > 0) {} };
    tokio::select! {
        () = within("the server hangs up", reading) => {}
        () = dripping => {}
    }
    said
}

#[tokio::test]
async fn a_slow_head_is_given_up() {
    let app = TestApp::with(fixture(), ONE_SECOND).await;
    let stream = app.connect().await;
    let (said, answer) = tokio::join!(
        drip(stream, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "),
        app.send(get("/livez"))
    );
    assert_eq!(answer.status, 200);
    assert!(said.is_empty() || Response::parse(&said).status == 408, "{:?}", String::from_utf8_lossy(&said));
    served_soon(&app).await;
    app.stop().await;
}

#[tokio::test]
async fn a_client_that_says_nothing_is_given_up() {
    let app = TestApp::with(fixture(), ONE_SECOND).await;
    let silent = app.connect().await;
    served_soon(&app).await;
    drop(silent);
    app.stop().await;
}

#[tokio::test]
async fn a_slow_body_is_a_request_timeout() {
    let check = async |path| {
        let app = TestApp::with(fixture(), ONE_SECOND).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: 1000000\r\n\r\n"
        );
        let said = drip(app.connect().await, &head).await;
        let answer = Response::parse(&said);
        let error = &answer.json()["error"];
        let code = error.pointer("/data/error_code").unwrap_or(&error["code"]);
        assert_eq!((answer.status, code), (408, &json!("TIMEOUT")), "{error}");
        served_soon(&app).await;
        app.stop().await;
    };
    tokio::join!(check("/mcp"), check("/tools/add/call"));
}

#[tokio::test]
async fn a_body_that_ends_early_is_the_end_of_it() {
    let app = TestApp::with(fixture(), ONE_SECOND).await;
    let mut stream = app.connect().await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    drop(stream);
    served_soon(&app).await;
    app.stop().await;
}

/// A response larger than all buffers in between.
fn large() -> Arc<Hub> {
    let size = 32 * 1024 * 1024;
    hub([tool(spec("large"), move |call| async move {
        call.progress(0.5, None, None);
        Ok::<_, Error>("x".repeat(size))
    })])
}

#[tokio::test]
async fn a_reader_that_stops_reading_an_answer_is_dropped() {
    let progress = json!({ "name": "large", "arguments": {}, "_meta": { "progressToken": 1 } });
    let check = async |request| {
        let app = TestApp::with(large(), ONE_SECOND).await;
        let unread = send_and_leave(app.connect().await, request).await;
        served_soon(&app).await;
        drop(unread);
        app.stop().await;
    };
    tokio::join!(
        check(modern("tools/call", &progress)),
        check(call("large", &json!({}))),
        check(post("/tools/large/call", "{}")),
    );
}

#[tokio::test]
async fn a_listener_that_stops_reading_is_dropped() {
    let wire = ResourceTemplate::new("large://{name}", "large");
    let access = Access::public(Domain::from_static("test"));
    let empty = |_, _| async { Ok(Outcome::Done(ReadResourceResult::new(Vec::new()))) };
    let template = TemplateEntry::new(access, wire, empty).unwrap();
    let hub = Arc::new(Hub::new(Registry::builder().template(template).unwrap().build()));
    let app = TestApp::with(hub.clone(), ONE_SECOND).await;
    let uris: Vec<String> = (0..200).map(|number| format!("large://{number}{}", "x".repeat(7_000))).collect();
    let wanted = json!({ "notifications": { "resourceSubscriptions": uris.clone() } });
    // A small receive window, so that the buffers fill up soon.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let stream = within("a connection", socket.connect(app.addr)).await.unwrap();
    let mut unread = send_and_leave(stream, modern("subscriptions/listen", &wanted)).await;
    let mut head = [0; 15];
    within("the stream begins", unread.read_exact(&mut head)).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    // As many as fit into one subscription.
    for uri in uris.iter().take(9).cycle().take(1_000) {
        hub.announce(Change::Resource(uri.clone()));
        tokio::task::yield_now().await;
    }
    served_soon(&app).await;
    drop(unread);
    app.stop().await;
}

/// Sends a request and never reads the response.
async fn send_and_leave(mut stream: TcpStream, request: Request) -> TcpStream {
    let body = body_of(&request).await;
    let mut text = format!("{} {} HTTP/1.1\r\nHost: localhost\r\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        text.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    stream.write_all(text.as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    stream
}
