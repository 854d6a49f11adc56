//! Responses: complete, or event by event.

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1::SendRequest};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use super::within;

/// A complete response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Response {
    /// Parses a raw response.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("not a response: {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8_lossy(&bytes[..end]);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        let body = Bytes::copy_from_slice(&bytes[end + 4..]);
        Self { status, headers: HeaderMap::new(), body }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The messages of a stream, in order.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.text().split("\n\n").filter_map(data).collect()
    }

    /// The JSON-RPC message, alone or as the last of a stream.
    pub(crate) fn message(&self) -> Value {
        if self.header("content-type").starts_with("text/event-stream") {
            return self.events().pop().unwrap_or_else(|| panic!("no message: {self:?}"));
        }
        self.json()
    }

    /// The result of a successful call.
    pub(crate) fn result(&self) -> Value {
        match self.message() {
            mut message if message.get("result").is_some() => message["result"].take(),
            message => panic!("no result: {} {message}", self.status),
        }
    }
}

/// A response that may still be streaming.
pub(crate) struct Live {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    waiting: String,
    /// Both keep the connection open.
    _sender: SendRequest<Full<Bytes>>,
    _connection: AbortOnDropHandle<()>,
}

impl Live {
    pub(super) fn new(
        response: http::Response<Incoming>,
        sender: SendRequest<Full<Bytes>>,
        connection: AbortOnDropHandle<()>,
    ) -> Self {
        let (head, body) = response.into_parts();
        Self {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            waiting: String::new(),
            _sender: sender,
            _connection: connection,
        }
    }

    /// Reads to the end.
    pub(crate) async fn whole(self) -> Response {
        self.ended().await.unwrap()
    }

    /// The same; fails if the connection breaks.
    pub(crate) async fn ended(self) -> std::io::Result<Response> {
        let body = within("the answer ends", self.body.collect()).await.map_err(std::io::Error::other)?;
        Ok(Response { status: self.status, headers: self.headers, body: body.to_bytes() })
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) async fn event(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.waiting.split_once("\n\n") {
                let message = data(event);
                self.waiting = rest.to_owned();
                if message.is_some() {
                    return message;
                }
            }
            let frame = within("the next event", self.body.frame()).await?.unwrap();
            self.waiting.push_str(std::str::from_utf8(frame.data_ref()?).unwrap());
        }
    }
}

/// The message of an event. Comments, and events with only an id, have none.
fn data(event: &str) -> Option<Value> {
    let data: String = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
    (!data.trim().is_empty()).then(|| serde_json::from_str(&data).unwrap())
}
