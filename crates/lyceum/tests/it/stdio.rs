//! The real program over stdio.

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
pub(crate) struct Program {
    pub(crate) child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    folder: TempDir,
    calls: u32,
}

impl Program {
    fn start() -> Self {
        Self::of("[limits]\nbody_bytes = 4096\n", &[])
    }

    /// With those variables, in addition to `PATH`.
    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        Self::of("", variables)
    }

    /// With that `lyceum.toml` and those variables.
    pub(crate) fn of(config: &str, variables: &[(&str, &str)]) -> Self {
        Self::at(tempfile::tempdir().unwrap(), config, variables)
    }

    /// The same in a folder that may contain the data of an earlier run.
    pub(crate) fn at(folder: TempDir, config: &str, variables: &[(&str, &str)]) -> Self {
        std::fs::write(folder.path().join("lyceum.toml"), config).unwrap();
        Self::started(folder, &["--config", "lyceum.toml"], variables)
    }

    /// The same in a folder whose `lyceum.toml`, if there is one, is not named.
    pub(crate) fn unnamed(folder: TempDir, variables: &[(&str, &str)]) -> Self {
        Self::started(folder, &[], variables)
    }

    fn started(folder: TempDir, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let log = std::fs::File::create(folder.path().join("log.jsonl")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_lyceum"))
            .args(flags)
            .args(["--data-dir", "data", "stdio"])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LYCEUM_EMBEDDER", "none")
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output).lines(), folder, calls: 0 }
    }

    /// Calls a tool and returns its result.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.calls += 1;
        let request = modern(self.calls, "tools/call", json!({ "name": name, "arguments": arguments }));
        let mut answer = self.ask(&request).await;
        assert!(answer["id"] == self.calls && answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    /// Calls a tool with each of those arguments concurrently; returns the results in order of arrival.
    pub(crate) async fn call_all(
        &mut self,
        name: &str,
        arguments: impl IntoIterator<Item = Value>,
    ) -> Vec<Value> {
        let mut under_way = 0;
        for arguments in arguments {
            self.calls += 1;
            under_way += 1;
            let params = json!({ "name": name, "arguments": arguments });
            self.write(&modern(self.calls, "tools/call", params).to_string()).await;
        }
        let mut results = Vec::new();
        for _ in 0..under_way {
            results.push(self.read().await.unwrap()["result"].take());
        }
        results
    }

    /// Closes the input, checks for a clean exit, and returns the log and the folder.
    pub(crate) async fn finish(self) -> (Vec<Value>, TempDir) {
        let Self { mut child, input, mut output, folder, calls: _ } = self;
        drop(input);
        assert_eq!(within("the end of the output", output.next_line()).await.unwrap(), None);
        assert!(within("the program ends", child.wait()).await.unwrap().success());
        let log = std::fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        (log.lines().map(parse).collect(), folder)
    }

    pub(crate) async fn write(&mut self, line: &str) {
        within("the line is taken", self.input.write_all(format!("{line}\n").as_bytes())).await.unwrap();
    }

    /// The next message; `None` once the program has closed its output.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        let line = within("the next line", self.output.next_line()).await.unwrap()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "not JSON-RPC: {line}");
        Some(message)
    }

    /// Sends a message and reads the response.
    async fn ask(&mut self, message: &Value) -> Value {
        self.write(&message.to_string()).await;
        self.read().await.unwrap()
    }

    /// Closes the input; returns the remaining output and the exit status.
    async fn close(self) -> (Vec<Value>, ExitStatus) {
        let Self { mut child, input, mut output, folder: _kept, calls: _ } = self;
        drop(input);
        let mut rest = Vec::new();
        while let Some(line) = within("the last lines", output.next_line()).await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}")));
        }
        (rest, within("the program ends", child.wait()).await.unwrap())
    }

    /// Closes the input and checks that there is no more output.
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

#[tokio::test]
async fn a_hangup_ends_it_well() {
    let mut program = Program::start();
    let answer = program.ask(&modern(1, "tools/list", json!({}))).await;
    assert!(answer["result"].is_object(), "{answer}");
    let kill = format!("kill -HUP {}", program.child.id().unwrap());
    assert!(Command::new("sh").args(["-c", &kill]).status().await.unwrap().success());
    assert!(within("the program ends", program.child.wait()).await.unwrap().success());
}
