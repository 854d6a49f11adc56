//! Runs the real program in a temporary folder.

use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpStream,
    process::{Child, ChildStderr, Command},
};

use crate::app::{Response, within};

/// Exit status and output of a run.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

/// Runs `lyceum` with that `lyceum.toml`, those variables and empty input.
pub(super) async fn lyceum(command: &str, config: &str, variables: &[(&str, &str)]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    if !config.is_empty() {
        std::fs::write(folder.path().join("lyceum.toml"), config).unwrap();
    }
    // Stdio, and files that name secrets, need `--config`.
    let named: &[&str] = if config.is_empty() { &[] } else { &["--config", "lyceum.toml"] };
    let running = Command::new(env!("CARGO_BIN_EXE_lyceum"))
        .args(named)
        .arg(command)
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LYCEUM_DATA_DIR", folder.path().join("data"))
        .env("LYCEUM_EMBEDDER", "none")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = within("the program ends", running).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The program over HTTP.
pub(super) struct Server {
    child: Child,
    addr: String,
    /// Kept open, so that it can continue to log.
    _log: Lines<BufReader<ChildStderr>>,
    folder: TempDir,
}

impl Server {
    /// Starts it with that `lyceum.toml`.
    pub(super) async fn start(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lyceum.toml"), config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_lyceum"))
            .args(["--data-dir", "data", "serve", "--listen", "127.0.0.1:0"])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LYCEUM_EMBEDDER", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        loop {
            let line = within("the next line", log.next_line()).await.unwrap().unwrap();
            let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
            if line["message"] == "listening" {
                let addr = line["addr"].as_str().unwrap().to_owned();
                return Self { child, addr, _log: log, folder };
            }
        }
    }

    pub(super) async fn get(&self, path: &str) -> Response {
        self.send(&format!("GET {path} HTTP/1.1\r\n"), "").await
    }

    /// Calls a tool over REST.
    pub(super) async fn call(&self, tool: &str, arguments: &Value) -> Response {
        let head = format!("POST /tools/{tool}/call HTTP/1.1\r\nContent-Type: application/json\r\n");
        self.send(&head, &json!({ "arguments": arguments }).to_string()).await
    }

    async fn send(&self, head: &str, body: &str) -> Response {
        let mut stream = TcpStream::connect(&self.addr).await.unwrap();
        let (addr, length) = (&self.addr, body.len());
        let more = format!("Host: {addr}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        stream.write_all(format!("{head}{more}{body}").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        within("the answer", stream.read_to_end(&mut answer)).await.unwrap();
        Response::parse(&answer)
    }

    /// Stops it, and waits for its end.
    pub(super) async fn stop(mut self) -> TempDir {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
        assert!(within("the program ends", self.child.wait()).await.unwrap().success());
        self.folder
    }
}
