//! The real program on standard input and output.

mod cancelling;
mod eras;
mod lines;

use std::process::{ExitStatus, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::app::{MODERN, within};

/// A running `lyceum stdio`.
struct Program {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _folder: TempDir,
}

impl Program {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lyceum.toml"), "[limits]\nbody_bytes = 4096\n").unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_lyceum"))
            .args(["--data-dir", "data", "stdio"])
            .current_dir(folder.path())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output).lines(), _folder: folder }
    }

    async fn write(&mut self, line: &str) {
        within("the line is taken", self.input.write_all(format!("{line}\n").as_bytes())).await.unwrap();
    }

    /// The next message; nothing once the program has closed its output.
    async fn read(&mut self) -> Option<Value> {
        let line = within("the next line", self.output.next_line()).await.unwrap()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "not JSON-RPC: {line}");
        Some(message)
    }

    /// Sends a message and reads the one that comes back.
    async fn ask(&mut self, message: &Value) -> Value {
        self.write(&message.to_string()).await;
        self.read().await.unwrap()
    }

    /// Closes the input; returns what was still said, and how the program ended.
    async fn close(self) -> (Vec<Value>, ExitStatus) {
        let Self { mut child, input, output, _folder } = self;
        drop(input);
        let mut rest = Vec::new();
        let mut lines = output;
        while let Some(line) = within("the last lines", lines.next_line()).await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}")));
        }
        (rest, within("the program ends", child.wait()).await.unwrap())
    }

    /// Closes the input and checks that nothing more is said.
    async fn close_in_silence(self) {
        let (rest, status) = self.close().await;
        assert!(rest.is_empty() && status.success(), "{rest:?} {status}");
    }
}

fn older(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn modern(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    older(id, method, &params)
}

fn initialize(id: u32) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    older(id, "initialize", &params)
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}
