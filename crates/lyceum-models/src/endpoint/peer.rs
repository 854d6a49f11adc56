//! A fake endpoint for tests: replies like the real one, or with scripted failures.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    response::Response,
};
use futures::stream;
use lyceum_net::Secret;
use serde_json::Value;
use tokio::task::JoinHandle;

/// The API key, unlike anything that could be in an error by chance.
pub(crate) const KEY: &str = "sk-zq/7Hx29vKpWd81mQ";

/// A recorded request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) authorization: String,
    pub(crate) body: Value,
}

/// A reply.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// 200 with this body.
    Json(Value),
    /// This status, headers and body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// This many bytes, without a content length.
    Endless(usize),
    /// The start of a body, then a closed connection.
    Cut,
    /// No reply.
    Never,
}

/// A running fake endpoint; stops when dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    valid_reply: fn(&ReceivedRequest) -> Reply,
    next: Mutex<VecDeque<Reply>>,
    received: Mutex<Vec<ReceivedRequest>>,
}

impl Peer {
    /// Starts an endpoint with this handler.
    pub(crate) async fn start(valid_reply: fn(&ReceivedRequest) -> Reply) -> Self {
        let shared = Arc::new(Shared { valid_reply, next: Mutex::default(), received: Mutex::default() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = axum::Router::new().fallback(respond).with_state(shared.clone());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared, server }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Scripts the next replies, before the handler takes over again.
    pub(crate) fn next(&self, replies: impl IntoIterator<Item = Reply>) {
        *self.shared.next.lock().unwrap() = replies.into_iter().collect();
    }

    /// Takes the recorded requests.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.shared.received.lock().unwrap())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The API key.
pub(crate) fn key() -> Option<Secret> {
    Some(Secret::for_header(KEY).unwrap())
}

/// Fails if a text contains the key or a recognizable part of it.
#[track_caller]
pub(crate) fn assert_key_hidden(text: &str) {
    let start = KEY.get(..8).unwrap();
    let end = KEY.get(12..).unwrap();
    assert!(!text.contains(start) && !text.contains(end), "{text}");
}

/// Failures that any endpoint may have, with the short form of the expected error.
pub(crate) fn failures() -> Vec<(Reply, &'static str)> {
    let status = |status, text: &str| Reply::Status(status, Vec::new(), text.to_owned());
    let echo = format!("{{\"error\":\"Incorrect API key provided: {KEY}, as in Bearer {KEY}\"}}");
    let masked = "Incorrect API key provided: sk-zq/7H************81mQ. You can find yours.";
    let wait = vec![("retry-after", "7".to_owned())];
    let redirect = vec![("location", "http://127.0.0.1:1/elsewhere".to_owned())];
    vec![
        (Reply::Status(429, wait, String::new()), "busy 429 7s"),
        (status(503, "starting"), "busy 503"),
        (status(500, &echo), "refused 500"),
        (status(502, "<html>Bad Gateway</html>"), "refused 502"),
        (status(401, &echo), "refused 401"),
        (status(401, &echo.replace('/', "\\/")), "refused 401"),
        (status(401, masked), "refused 401"),
        (status(404, ""), "refused 404"),
        (status(413, &"too long ".repeat(9_000)), "refused 413"),
        (Reply::Status(307, redirect, String::new()), "refused 307"),
        (status(200, "<html>Please log in</html>"), "malformed"),
        (status(200, &format!("\"{KEY}\"")), "malformed"),
        (status(200, ""), "malformed"),
        (status(200, "{}"), "malformed"),
        (status(200, "[[NaN"), "malformed"),
        (Reply::Cut, "unreachable"),
    ]
}

async fn respond(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 16 << 20).await.unwrap();
    let authorization = parts.headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let received = ReceivedRequest {
        path: parts.uri.path().to_owned(),
        authorization: authorization.unwrap_or_default(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let next = shared.next.lock().unwrap().pop_front();
    let reply = next.unwrap_or_else(|| (shared.valid_reply)(&received));
    shared.received.lock().unwrap().push(received);
    let (status, headers, body) = match reply {
        Reply::Json(value) => (200, Vec::new(), Body::from(value.to_string())),
        Reply::Status(status, headers, text) => (status, headers, Body::from(text)),
        Reply::Endless(bytes) => {
            let piece = Bytes::from(vec![b' '; 1 << 20]);
            let pieces = std::iter::repeat_n(piece, bytes >> 20).map(Ok::<_, std::io::Error>);
            (200, Vec::new(), Body::from_stream(stream::iter(pieces)))
        }
        Reply::Cut => {
            let cut = std::io::Error::other("cut");
            let pieces = [Ok(Bytes::from_static(b"{\"data\":[")), Err(cut)];
            (200, Vec::new(), Body::from_stream(stream::iter(pieces)))
        }
        Reply::Never => std::future::pending().await,
    };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(body).unwrap()
}
