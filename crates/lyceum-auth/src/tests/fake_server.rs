//! A fake HTTP server: the test chooses the responses, and requests are recorded.

use std::{
    collections::BTreeMap,
    future::pending,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// A server on its own port.
pub(super) struct FakeServer {
    /// Base URL.
    pub(super) url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    handler: Arc<Mutex<Handler>>,
}

/// Chooses the response to a request.
type Handler = Box<dyn Fn(&ReceivedRequest) -> FakeResponse + Send>;

/// A received request.
#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    /// Method and path: `GET /user`.
    pub(super) line: String,
    /// Headers with lowercase names.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

/// A response.
#[derive(Debug, Clone)]
pub(super) enum FakeResponse {
    /// A status and a body, with the headers that servers usually send with that status.
    Status(u16, String),
    /// No response, and the paused clock makes the client time out at once.
    TimeOut,
    /// No response, on the real clock.
    Hang,
}

impl FakeResponse {
    pub(super) fn json(body: &Value) -> Self {
        Self::Status(200, body.to_string())
    }
}

impl FakeServer {
    pub(super) async fn start(handler: impl Fn(&ReceivedRequest) -> FakeResponse + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests, handler) =
            (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Box::new(handler) as Handler)));
        let (recorded, current) = (requests.clone(), handler.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(respond(stream, recorded.clone(), current.clone()));
            }
        });
        Self { url, requests, handler }
    }

    /// Replaces the handler.
    pub(super) fn respond_with(&self, handler: impl Fn(&ReceivedRequest) -> FakeResponse + Send + 'static) {
        *self.handler.lock().unwrap() = Box::new(handler);
    }

    /// Returns the requests since the last call.
    pub(super) fn take_requests(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

async fn respond(
    stream: TcpStream,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    handler: Arc<Mutex<Handler>>,
) {
    let mut stream = BufReader::new(stream);
    let Some(read) = read(&mut stream).await else { return };
    let response = handler.lock().unwrap()(&read);
    requests.lock().unwrap().push(read);
    match response {
        FakeResponse::Status(status, body) => {
            let more = match status {
                301 | 302 => "Location: /elsewhere\r\n",
                403 | 429 | 503 => "Retry-After: 60\r\n",
                _ => "",
            };
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} X\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _written = stream.write_all(text.as_bytes()).await;
        }
        FakeResponse::Hang => pending::<()>().await,
        FakeResponse::TimeOut => {
            // Pausing the clock makes it advance to the next timer at once.
            tokio::time::pause();
            pending::<()>().await;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let line = first.strip_suffix(" HTTP/1.1\r\n")?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        match header.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(ReceivedRequest { line, headers, body: String::from_utf8(body).ok()? })
}
