//! A client of an earlier protocol version: a handshake, then requests in the session.

use http::{HeaderName, Method};
use serde_json::{Value, json};

use super::{Request, TestApp, get, message, post};

/// An open session.
#[derive(Debug)]
pub(crate) struct Older {
    pub(crate) id: String,
    pub(crate) version: &'static str,
    /// The result of `initialize`.
    pub(crate) greeting: Value,
}

impl Older {
    /// Opens a session.
    pub(crate) async fn open(app: &TestApp, version: &'static str) -> Self {
        Self::open_as(app, version, json!({})).await
    }

    /// Opens a session with these client capabilities.
    pub(crate) async fn open_as(app: &TestApp, version: &'static str, capabilities: Value) -> Self {
        let answer = app.send(Self::initialize(version, &capabilities)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").to_owned();
        let session = Self { id, version, greeting: answer.result() };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(app.send(session.message(&initialized)).await.status, 202);
        session
    }

    /// The `initialize` request.
    pub(crate) fn initialize(version: &str, capabilities: &Value) -> Request {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        post("/mcp", message("initialize", &params).to_string())
    }

    /// A message of this session.
    pub(crate) fn message(&self, message: &Value) -> Request {
        self.within(post("/mcp", message.to_string()))
    }

    pub(crate) fn request(&self, method: &str, params: &Value) -> Request {
        self.message(&message(method, params))
    }

    pub(crate) fn call(&self, name: &str, arguments: &Value) -> Request {
        self.request("tools/call", &json!({ "name": name, "arguments": arguments }))
    }

    /// The standalone stream of the session.
    pub(crate) fn stream(&self) -> Request {
        let mut request = get("/mcp");
        request.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
        self.within(request)
    }

    /// Resumes a stream after an event.
    pub(crate) fn resume(&self, last_event: &str) -> Request {
        let mut request = self.stream();
        request.headers_mut().insert(HeaderName::from_static("last-event-id"), last_event.parse().unwrap());
        request
    }

    /// Ends the session.
    pub(crate) fn end(&self) -> Request {
        let mut request = get("/mcp");
        *request.method_mut() = Method::DELETE;
        self.within(request)
    }

    fn within(&self, mut request: Request) -> Request {
        let headers = request.headers_mut();
        headers.insert(HeaderName::from_static("mcp-session-id"), self.id.parse().unwrap());
        headers.insert(HeaderName::from_static("mcp-protocol-version"), self.version.parse().unwrap());
        request
    }
}
