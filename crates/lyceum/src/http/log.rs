//! One log line and one measurement per request, written when its response is complete.

use std::{
    borrow::Cow,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll},
    time::Instant,
};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};

use tracing::Span;

use super::generation::InFlight;
use crate::telemetry::span;

/// An in-flight request. Dropping it writes the log line.
pub(super) struct RequestLog {
    pub method: Method,
    pub path: String,
    /// The path of its route.
    pub route: Cow<'static, str>,
    pub status: StatusCode,
    /// The application that serves it; counted as in flight until the response is complete.
    pub generation: InFlight,
    /// The parent span of log lines of the request.
    pub span: Span,
    started: Instant,
}

impl RequestLog {
    pub(super) fn begin(
        generation: InFlight,
        id: &HeaderValue,
        method: Method,
        path: String,
        route: Cow<'static, str>,
        headers: &HeaderMap,
    ) -> Self {
        let span = span::of_http_request(id.to_str().unwrap_or_default(), &method, &path, &route, headers);
        // If it is dropped before it has a status, the client disconnected.
        Self { method, path, route, status: CLIENT_CLOSED_REQUEST, generation, span, started: Instant::now() }
    }

    /// Keeps the log open until a streamed body has ended. A body of known size counts as sent.
    pub(super) fn until_end_of(self, body: Body) -> Body {
        if body.size_hint().exact().is_some() {
            return body;
        }
        Body::new(LoggedBody { body, log: self })
    }
}

/// nginx's status for a client that disconnected; HTTP has none.
const CLIENT_CLOSED_REQUEST: StatusCode = match StatusCode::from_u16(499) {
    Ok(status) => status,
    Err(_) => StatusCode::BAD_REQUEST,
};

impl Drop for RequestLog {
    fn drop(&mut self) {
        let elapsed = self.started.elapsed();
        let status = self.status.as_u16();
        span::record_status(&self.span, self.status);
        tracing::info!(
            parent: &self.span,
            method = self.method.as_str(),
            path = self.path,
            status,
            duration_ms = elapsed.as_secs_f64() * 1000.0,
            "request"
        );
        let metrics = &self.generation.app.metrics;
        metrics.request(&self.method, std::mem::take(&mut self.route), status, elapsed);
    }
}

/// A response body that owns the log.
struct LoggedBody {
    body: Body,
    log: RequestLog,
}

impl HttpBody for LoggedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, log } = &mut *self;
        let _entered = log.span.enter();
        Pin::new(body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Generates ids for requests without one: a random part per process, and a counter.
#[derive(Debug)]
pub(crate) struct RequestIds {
    process: u32,
    count: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        // Without randomness the ids are still unique within the process.
        Self { process: getrandom::u32().unwrap_or_default(), count: AtomicU64::new(1) }
    }

    /// The id that the client sent, if it is safe to log and echo; else a new one.
    pub(super) fn of(&self, sent: Option<&HeaderValue>) -> HeaderValue {
        let safe = |b: &u8| b.is_ascii_alphanumeric() || b"-_.:/+=@".contains(b);
        match sent {
            Some(id) if (1..=128).contains(&id.len()) && id.as_bytes().iter().all(safe) => id.clone(),
            _ => {
                let count = self.count.fetch_add(1, Ordering::Relaxed);
                let id: Vec<u8> = hex(u64::from(self.process)).chain([b'-']).chain(hex(count)).collect();
                HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("unknown"))
            }
        }
    }
}

/// The last eight hex digits of a number.
fn hex(number: u64) -> impl Iterator<Item = u8> {
    (0..8).rev().map(move |place| match (number >> (4 * place)) & 0xf {
        digit @ 0..=9 => b'0' + digit as u8,
        digit => b'a' + (digit as u8 - 10),
    })
}
