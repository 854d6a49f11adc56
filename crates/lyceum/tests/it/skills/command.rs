//! The real program, run to its end in a folder that is thrown away.

use std::process::Stdio;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use crate::app::{Answer, within};

/// How a run ended, and what it said.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

/// Runs `lyceum` with that `lyceum.toml`, those variables and an empty input.
pub(super) async fn lyceum(command: &str, config: &str, variables: &[(&str, &str)]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    if !config.is_empty() {
        std::fs::write(folder.path().join("lyceum.toml"), config).unwrap();
    }
    let running = tokio::process::Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .arg(command)
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LYCEUM_DATA_DIR", folder.path().join("data"))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = within("the program ends", running).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// What `/readyz` says of the program over HTTP, with that `lyceum.toml`.
pub(super) async fn ready_of(config: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lyceum.toml"), config).unwrap();
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .args(["--data-dir", "data", "serve", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let addr = loop {
        let line = within("the next line", lines.next_line()).await.unwrap().unwrap();
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        if line["message"] == "listening" {
            break line["addr"].as_str().unwrap().to_owned();
        }
    };
    let mut stream = TcpStream::connect(&addr).await.unwrap();
    let head = format!("GET /readyz HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    within("the answer", stream.read_to_end(&mut answer)).await.unwrap();
    within("the program ends", child.kill()).await.unwrap();
    Answer::parse(&answer).json()
}
