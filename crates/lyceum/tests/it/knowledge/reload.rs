//! SIGHUP: `lyceum serve` takes a new configuration without losing a request or a connection.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

use super::stage::{Program, eventually};
use crate::app::{Older, TestApp, get, within};

const CONFIG: &str = "[[source]]\nname = \"kb\"\npath = \"kb\"\n[knowledge]\nsource = \"kb\"\n";

/// A folder with a configuration, a published document, and one without a word about publishing.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("kb/notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("a.md"), "---\ntitle: A\ndate: 2026-01-01\npublish: true\n---\n\nText.\n").unwrap();
    fs::write(notes.join("b.md"), "---\ntitle: B\ndate: 2026-01-01\n---\n\nText.\n").unwrap();
    configure(&folder, CONFIG);
    folder
}

fn configure(folder: &TempDir, text: &str) {
    fs::write(folder.path().join("lyceum.toml"), text).unwrap();
}

async fn started(folder: &TempDir) -> Program {
    let program = Program::start(folder.path(), &folder.path().join("data"), &[]).await;
    program.shows_something().await;
    program
}

/// Sends SIGHUP, and waits for a log line.
async fn hang_up(program: &Program, message: &str) {
    let count = || program.log().matches(message).count();
    let before = count();
    let kill = format!("kill -HUP {}", program.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().await.unwrap().success());
    eventually(message, || async { if count() > before { Ok(()) } else { Err(program.log()) } }).await;
}

/// Waits until the list has that many entries.
async fn has_entries(program: &Program, total: u64) {
    eventually("the entries", || async {
        let list = program.send(get("/api/v1/entries")).await.unwrap().json();
        if list["total"] == total { Ok(()) } else { Err(format!("{list}\n{}", program.log())) }
    })
    .await;
}

/// A request on an open connection, which stays open.
async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    answer(stream).await
}

/// Reads a whole response with a `Content-Length`.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let read = within("the answer", stream.read_buf(&mut text)).await.unwrap();
        let text = String::from_utf8_lossy(&text).to_lowercase();
        let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
        if read == 0 || body.is_some_and(|body| length.is_some_and(|length| length == body.to_string())) {
            return text;
        }
    }
}

#[tokio::test]
async fn a_new_configuration_is_served_on_the_same_connection() {
    let folder = folder();
    let program = started(&folder).await;
    has_entries(&program, 1).await;
    eventually("the first sync is logged", || async {
        let log = program.log();
        let is_logged = log.contains("\"published\":1,") && log.contains("sync published changes");
        if is_logged { Ok(()) } else { Err(log) }
    })
    .await;
    let head = format!("GET /api/v1/entries HTTP/1.1\r\nHost: {}\r\n\r\n", program.addr);
    let mut connection = TcpStream::connect(program.addr).await.unwrap();
    assert!(ask(&mut connection, &head).await.contains("\"total\":1"));

    configure(&folder, &format!("{CONFIG}publish = \"all\"\ntitle = \"New\"\n"));
    hang_up(&program, "configuration reloaded").await;
    // The old application has released its lock, so the new one publishes by its own rules.
    has_entries(&program, 2).await;
    assert!(ask(&mut connection, &head).await.contains("\"total\":2"));
    let page = program.send(get("/")).await.unwrap();
    assert!(page.text().contains("New"), "{}", page.text());
    // Metrics go on, so nothing looks like a restart.
    let metrics = program.send(get("/metrics")).await.unwrap();
    let metrics = metrics.text();
    let counted =
        metrics.lines().filter(|line| line.contains("_count") && line.contains("/api/v1/entries\""));
    let counted: u64 = counted.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
    assert!(counted >= 4, "{metrics}");
    program.stop().await;
}

#[tokio::test]
async fn a_request_under_way_is_finished() {
    let folder = folder();
    let program = started(&folder).await;
    let body = r#"{"arguments":{"query":"text"}}"#;
    let head = format!(
        "POST /tools/search_knowledge/call HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        program.addr,
        body.len()
    );
    let mut connection = TcpStream::connect(program.addr).await.unwrap();
    let (first, rest) = body.split_at(10);
    connection.write_all(format!("{head}{first}").as_bytes()).await.unwrap();
    // Another request on another connection shows that the first has been read this far.
    has_entries(&program, 1).await;
    hang_up(&program, "configuration reloaded").await;
    connection.write_all(rest.as_bytes()).await.unwrap();
    let said = answer(&mut connection).await;
    assert!(said.starts_with("http/1.1 200"), "{said}");
    program.stop().await;
}

#[tokio::test]
async fn a_session_goes_on() {
    let folder = folder();
    let program = started(&folder).await;
    let app = TestApp::elsewhere(program.addr);
    let session = Older::open(&app, "2025-11-25").await;
    let mut stream = app.open(session.stream()).await;
    configure(&folder, &format!("{CONFIG}publish = \"all\"\n"));
    hang_up(&program, "configuration reloaded").await;
    // The first sync may come after the stream was opened, and it changes what the tools are described by.
    let mut told = stream.event().await;
    while told.as_ref().is_some_and(|told| told["method"] == "notifications/tools/list_changed") {
        told = stream.event().await;
    }
    assert_eq!(told, None, "the client opens its stream again");
    let found = app.send(session.call("search_knowledge", &json!({ "query": "text" }))).await;
    assert_eq!(found.status, 200, "{found:?}");
    // A session in memory does not keep the old application alive.
    has_entries(&program, 2).await;
    program.stop().await;
}

#[tokio::test]
async fn an_invalid_configuration_is_reported_and_the_old_one_stays() {
    let folder = folder();
    let program = started(&folder).await;
    configure(&folder, "[server]\nlisten = \"nowhere\"\nlogs = true\n");
    hang_up(&program, "not reloaded; still using the previous configuration").await;
    let log = program.log();
    assert!(log.contains("lyceum.toml:3: server.logs: unknown key"), "{log}");
    has_entries(&program, 1).await;
    assert!(program.send(get("/readyz")).await.unwrap().status == 200);
    program.stop().await;
}

#[tokio::test]
async fn what_can_not_change_is_named_and_the_rest_is_applied() {
    let folder = folder();
    configure(&folder, &format!("[server]\noperator_listen = \"127.0.0.1:0\"\n{CONFIG}"));
    let program = started(&folder).await;
    configure(&folder, &format!("{CONFIG}title = \"New\"\n"));
    hang_up(&program, "configuration reloaded").await;
    let log = program.log();
    let told = "server.operator_listen can't change while the server runs; restart it to apply the new value";
    assert!(log.contains(told), "{log}");
    assert!(program.send(get("/")).await.unwrap().text().contains("New"));
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(lines.iter().filter(|line| line["message"] == "listening").count(), 1);
    program.stop().await;
}
