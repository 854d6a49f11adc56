//! The measured call in each protocol variant, and the check of its response.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::modern;
use lyceum_harness::exchange::{self, Request, Response};

/// A variant of the call `add(2, 3)`.
#[derive(Clone, Copy)]
pub(super) enum Call {
    /// The modern request, sent to a server that parses and echoes it.
    Echo,
    /// MCP 2026-07-28, JSON response.
    ModernJson,
    /// MCP 2026-07-28, SSE response.
    ModernSse,
    /// MCP 2025-11-25, within a session.
    LegacySession,
}

const LEGACY: &str = "2025-11-25";

impl Call {
    /// Builds the request and checks one response to it.
    pub(super) fn prepare(self, addr: SocketAddr) -> Result<Request> {
        let request = match self {
            Self::Echo | Self::ModernJson => modern_request("application/json, text/event-stream"),
            Self::ModernSse => modern_request("text/event-stream"),
            Self::LegacySession => legacy(&open_session(addr)?),
        };
        let response = exchange::send(addr, &request)?;
        self.check(&request, &response)
            .with_context(|| format!("status {}: {}", response.status, response.body))?;
        Ok(request)
    }

    fn check(self, request: &Request, response: &Response) -> Result<()> {
        ensure!(response.status == 200, "the status is not 200");
        let kind = response.header("content-type").unwrap_or_default();
        let streamed = kind.starts_with("text/event-stream");
        match self {
            Self::Echo => {
                let same = serde_json::from_str::<Value>(&response.body)?
                    == serde_json::from_str::<Value>(&request.body)?;
                ensure!(same, "the echo differs from the request");
                return Ok(());
            }
            Self::ModernJson => ensure!(!streamed, "expected a JSON body, got {kind}"),
            Self::ModernSse => ensure!(streamed, "expected an event stream, got {kind}"),
            Self::LegacySession => {}
        }
        let message = if streamed { last_event(&response.body)? } else { response.body.as_str() };
        let sum = serde_json::from_str::<Value>(message)?
            .pointer("/result/structuredContent/sum")
            .and_then(Value::as_f64);
        ensure!(sum == Some(5.0), "2 + 3 returned {sum:?}");
        Ok(())
    }
}

fn modern_request(accept: &str) -> Request {
    modern::post(accept, &modern::call(1, "add", &json!({ "a": 2, "b": 3 })))
}

fn legacy(session: &str) -> Request {
    let params = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
    in_session(session, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
}

/// Runs the handshake of MCP 2025-11-25 and returns the session id.
fn open_session(addr: SocketAddr) -> Result<String> {
    let client = json!({ "name": "lyceum-bench", "version": "0" });
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let response = exchange::send(addr, &post("application/json, text/event-stream", LEGACY, &initialize))?;
    ensure!(response.status == 200, "initialize returned {}: {}", response.status, response.body);
    let session =
        response.header("mcp-session-id").context("initialize returned no Mcp-Session-Id")?.to_owned();
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let response = exchange::send(addr, &in_session(&session, &initialized))?;
    ensure!(
        response.status == 202,
        "notifications/initialized returned {}: {}",
        response.status,
        response.body
    );
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

/// The data of the last event with data, after priming events and comments.
fn last_event(stream: &str) -> Result<&str> {
    let mut data = stream.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    data.rfind(|data| !data.is_empty()).context("the event stream has no data")
}

#[cfg(test)]
mod tests;
