//! The real program over HTTP: reports its address, logs each request, and stops on a signal.

#![cfg(unix)]

use std::process::Stdio;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::Command,
};

use crate::app::within;

async fn fetch(addr: &str, path: &str, id: &str) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: {addr}\r\nX-Request-ID: {id}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    within("the answer", stream.read_to_string(&mut text)).await.unwrap();
    text
}

#[tokio::test]
async fn each_request_has_its_log_line_and_a_signal_stops_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .args(["--data-dir", "data", "serve", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .env_clear()
        .env("LYCEUM_EMBEDDER", "none")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = within("the first line", lines.next_line()).await.unwrap().unwrap();
    let listening: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(listening["message"], "listening", "{first}");
    let addr = listening["addr"].as_str().unwrap();
    assert!(fetch(addr, "/tools", "first").await.starts_with("HTTP/1.1 200"));
    assert!(fetch(addr, "/nothing?secret=swordfish", "second").await.starts_with("HTTP/1.1 404"));

    let kill = format!("kill -TERM {}", child.id().unwrap());
    assert!(Command::new("sh").args(["-c", &kill]).status().await.unwrap().success());
    let mut logged = Vec::new();
    while let Some(line) = within("the next line", lines.next_line()).await.unwrap() {
        assert!(!line.contains("swordfish"), "{line}");
        logged.push(serde_json::from_str::<Value>(&line).unwrap_or_else(|_| panic!("not JSON: {line}")));
    }
    assert!(within("the program ends", child.wait()).await.unwrap().success());
    for (id, path, status) in [("first", "/tools", 200), ("second", "/nothing", 404)] {
        let mut found = logged.iter().filter(|line| line["request_id"] == id);
        let (line, another) = (found.next().unwrap(), found.next());
        assert_eq!(
            (&line["method"], &line["path"], &line["status"]),
            (&"GET".into(), &path.into(), &status.into())
        );
        assert!(line["duration_ms"].is_number() && another.is_none(), "{line} {another:?}");
    }
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).await.unwrap();
    assert_eq!(printed, "", "standard output is for people at a terminal");
}
