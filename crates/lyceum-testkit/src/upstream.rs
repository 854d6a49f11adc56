//! A scripted MCP server over raw TCP, of either era, with the faults that real upstreams have.

mod exchange;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

pub use exchange::UpstreamRequest;

/// Which protocol versions a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamEra {
    /// 2026-07-28.
    Modern,
    /// 2025-11-25, with sessions.
    Legacy,
}

/// How a server fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamFault {
    /// It reads the request and never responds.
    Silent,
    /// It responds with that status and a text that must not reach callers.
    Status(u16),
    /// It announces more bytes than it sends.
    Truncated,
    /// It sends an event stream without end.
    Endless,
    /// It answers another request.
    WrongId,
    /// It sends a body of that many bytes.
    Huge(usize),
    /// It closes the connection.
    Disconnect,
    /// It answers with that JSON-RPC error, and a text that must not reach callers.
    Rpc(i64),
}

/// Text of the upstream's errors. Callers must never see it.
pub(crate) const SECRET_TEXT: &str = "secret-of-the-upstream at /srv/internal.py:42";

/// A scripted MCP server.
pub struct TestUpstream {
    addr: SocketAddr,
    script: Arc<Script>,
    /// The listener and the connections. Dropping them ends all.
    running: Mutex<JoinSet<()>>,
}

/// What the server does, changed by tests while it runs.
struct Script {
    era: UpstreamEra,
    state: Mutex<ScriptState>,
    sessions_opened: AtomicU64,
}

struct ScriptState {
    fault: Option<UpstreamFault>,
    /// Whether the fault concerns calls only.
    calls_only: bool,
    tools: Value,
    results: BTreeMap<String, String>,
    content_type: &'static str,
    as_events: bool,
    sessions: BTreeSet<String>,
    requests: Vec<UpstreamRequest>,
}

impl TestUpstream {
    /// Starts a server with one tool, `echo`, whose result is its arguments.
    pub async fn start(era: UpstreamEra) -> Self {
        let echo = json!({
            "name": "echo", "title": "Echo", "description": "Returns its arguments.",
            "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
            "annotations": { "readOnlyHint": true }, "_meta": { "example/kind": "test" },
        });
        let state = ScriptState {
            fault: None,
            calls_only: false,
            tools: json!([echo]),
            results: BTreeMap::new(),
            content_type: "application/json",
            as_events: false,
            sessions: BTreeSet::new(),
            requests: Vec::new(),
        };
        let script = Arc::new(Script { era, state: Mutex::new(state), sessions_opened: AtomicU64::new(0) });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addr = listener.local_addr().expect("a bound address");
        let server = Self { addr, script, running: Mutex::default() };
        server.accept(listener);
        server
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.addr)
    }

    /// Replaces its tools.
    pub fn set_tools(&self, tools: Value) {
        self.script.state().tools = tools;
    }

    /// Sets the raw result of a tool.
    pub fn set_result(&self, tool: &str, result: &str) {
        self.script.state().results.insert(tool.to_owned(), result.to_owned());
    }

    /// Fails every request from now on, or none.
    pub fn fail(&self, fault: Option<UpstreamFault>) {
        let mut state = self.script.state();
        (state.fault, state.calls_only) = (fault, false);
    }

    /// Fails tool calls from now on; lists work.
    pub fn fail_calls(&self, fault: UpstreamFault) {
        let mut state = self.script.state();
        (state.fault, state.calls_only) = (Some(fault), true);
    }

    /// Sends responses with that content type, as an event stream or as one JSON body.
    pub fn respond_as(&self, content_type: &'static str, as_events: bool) {
        let mut state = self.script.state();
        (state.content_type, state.as_events) = (content_type, as_events);
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<UpstreamRequest> {
        self.script.state().requests.clone()
    }

    /// The requests of a method so far.
    pub fn requests_of(&self, method: &str) -> Vec<UpstreamRequest> {
        self.requests().into_iter().filter(|request| request.body["method"] == method).collect()
    }

    /// Stops the server: connections are closed, new ones refused, sessions lost.
    pub async fn stop(&self) {
        let mut running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.shutdown().await;
        self.script.state().sessions.clear();
    }

    /// Starts it again at the same address.
    pub async fn start_again(&self) {
        let listener = TcpListener::bind(self.addr).await.expect("the port is still free");
        self.accept(listener);
    }

    fn accept(&self, listener: TcpListener) {
        let script = self.script.clone();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let script = script.clone();
                connections.spawn(async move { exchange::serve(stream, &script).await });
            }
        });
    }
}

impl Script {
    fn state(&self) -> MutexGuard<'_, ScriptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault for that method now.
    fn fault(&self, method: &str) -> Option<UpstreamFault> {
        let state = self.state();
        state.fault.filter(|_| !state.calls_only || method == "tools/call")
    }

    fn open_session(&self) -> String {
        let session = format!("session-{}", self.sessions_opened.fetch_add(1, Ordering::Relaxed));
        self.state().sessions.insert(session.clone());
        session
    }

    /// The raw result of a request, or the code of the error.
    fn result(&self, method: &str, params: &Value) -> Result<String, i64> {
        let state = self.state();
        match (method, self.era) {
            ("server/discover", UpstreamEra::Modern) => Ok(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "public",
            })
            .to_string()),
            ("initialize", UpstreamEra::Legacy) => Ok(json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "test", "version": "1" },
            })
            .to_string()),
            ("tools/list", _) => Ok(json!({ "tools": state.tools }).to_string()),
            ("tools/call", _) => {
                let name = params["name"].as_str().unwrap_or_default();
                let echoed = || {
                    let arguments = &params["arguments"];
                    let text = json!([{ "type": "text", "text": arguments.to_string() }]);
                    json!({ "content": text, "structuredContent": arguments }).to_string()
                };
                Ok(state.results.get(name).cloned().unwrap_or_else(echoed))
            }
            _ => Err(-32601),
        }
    }
}
