//! The call that is measured, in each form a client may send it, and what a right answer to it is.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::modern;
use lyceum_harness::exchange::{self, Request, Response};

/// A way to ask for 2 + 3.
#[derive(Clone, Copy)]
pub(super) enum Call {
    /// The modern call's bytes, sent to a server that only parses them and sends them back.
    Echo,
    /// 2026-07-28, answered with one JSON body.
    ModernJson,
    /// 2026-07-28, answered as an event stream.
    ModernSse,
    /// 2025-11-25, within a session.
    LegacySession,
}

const LEGACY: &str = "2025-11-25";

impl Call {
    /// The request to load the server with, after one answer to it was found right.
    pub(super) fn prepare(self, addr: SocketAddr) -> Result<Request> {
        let request = match self {
            Self::Echo | Self::ModernJson => in_modern("application/json, text/event-stream"),
            Self::ModernSse => in_modern("text/event-stream"),
            Self::LegacySession => legacy(&open_session(addr)?),
        };
        let answer = exchange::send(addr, &request)?;
        self.check(&request, &answer)
            .with_context(|| format!("status {}: {}", answer.status, answer.body))?;
        Ok(request)
    }

    fn check(self, request: &Request, answer: &Response) -> Result<()> {
        ensure!(answer.status == 200, "the answer is not 200");
        let kind = answer.header("content-type").unwrap_or_default();
        let streamed = kind.starts_with("text/event-stream");
        match self {
            Self::Echo => {
                let same = serde_json::from_str::<Value>(&answer.body)?
                    == serde_json::from_str::<Value>(&request.body)?;
                ensure!(same, "the echo is not what was sent");
                return Ok(());
            }
            Self::ModernJson => ensure!(!streamed, "a JSON body was expected, not {kind}"),
            Self::ModernSse => ensure!(streamed, "an event stream was expected, not {kind}"),
            Self::LegacySession => {}
        }
        let message = if streamed { last_event(&answer.body)? } else { answer.body.as_str() };
        let sum = serde_json::from_str::<Value>(message)?
            .pointer("/result/structuredContent/sum")
            .and_then(Value::as_f64);
        ensure!(sum == Some(5.0), "2 + 3 gave {sum:?}");
        Ok(())
    }
}

fn in_modern(accept: &str) -> Request {
    modern::post(accept, &modern::call(1, "add", &json!({ "a": 2, "b": 3 })))
}

fn legacy(session: &str) -> Request {
    let params = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
    in_session(session, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

/// The handshake of the older era; returns the session's id.
fn open_session(addr: SocketAddr) -> Result<String> {
    let client = json!({ "name": "lyceum-bench", "version": "0" });
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
    let opening = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let answer = exchange::send(addr, &post("application/json, text/event-stream", LEGACY, &opening))?;
    ensure!(answer.status == 200, "initialize gave {}: {}", answer.status, answer.body);
    let session = answer.header("mcp-session-id").context("initialize gave no Mcp-Session-Id")?.to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = exchange::send(addr, &in_session(&session, &ready))?;
    ensure!(answer.status == 202, "notifications/initialized gave {}: {}", answer.status, answer.body);
    Ok(session)
}

fn in_session(session: &str, message: &Value) -> Request {
    let mut request = post("application/json, text/event-stream", LEGACY, message);
    request.headers.push(("Mcp-Session-Id", session.to_owned()));
    request
}

fn post(accept: &str, version: &str, message: &Value) -> Request {
    let headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("Accept", accept.to_owned()),
        ("MCP-Protocol-Version", version.to_owned()),
    ];
    Request { method: "POST", path: "/mcp".into(), headers, body: message.to_string() }
}

/// The data of the last event that has any; priming events and comments come before it.
fn last_event(stream: &str) -> Result<&str> {
    let mut data = stream.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    data.rfind(|data| !data.is_empty()).context("the event stream holds no data")
}

#[cfg(test)]
mod tests;
