//! Reads the response to a POST: one JSON body, or an event stream that contains the response.

use lyceum_net::{read_start, retry_after};
use reqwest::{Response, header::HeaderMap};
use serde_json::{json, value::RawValue};

use super::{Era, McpHttp, Progress};
use crate::{Fault, rpc::Envelope, sse::Events};

/// Maximum size of a response with an error status.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// A body as far as it has been received.
enum Body {
    /// Only white space so far.
    Unknown,
    Json(Vec<u8>),
    Stream(Events),
}

impl McpHttp {
    /// Reads the response to the request with that id.
    pub(super) async fn read(
        &self,
        response: Response,
        era: &Era,
        id: u64,
        progress: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Result<Box<RawValue>, Fault> {
        match response.status().as_u16() {
            200 => self.read_body(response, era, id, progress).await,
            201..300 => Err(Fault::Invalid("it has no body")),
            status @ (401 | 403) => Err(Fault::Unauthorized(status)),
            429 => {
                let retry_after = retry_after(response.headers(), jiff::Timestamp::now());
                Err(Fault::RateLimited { retry_after })
            }
            // Servers answer 404 to an expired session, and some 400.
            400 | 404 if matches!(era, Era::Legacy { session: Some(_), .. }) => Err(Fault::SessionGone),
            status @ 400..500 => {
                let body = read_start(response, MAX_ERROR_BYTES).await;
                let text = String::from_utf8(body).unwrap_or_default();
                // In 2026-07-28 some errors have a status of their own.
                match Envelope::parse(&text).map(Envelope::into_result) {
                    Ok(Err(fault @ Fault::Rpc(_))) => Err(fault),
                    _ => Err(Fault::Status(status)),
                }
            }
            status => Err(Fault::Status(status)),
        }
    }

    async fn read_body(
        &self,
        mut response: Response,
        era: &Era,
        id: u64,
        progress: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Result<Box<RawValue>, Fault> {
        let (mut body, mut received) = (Body::Unknown, 0_usize);
        loop {
            let chunk = tokio::time::timeout(self.limits.idle, response.chunk()).await;
            let chunk = chunk.map_err(|_| Fault::Timeout(self.limits.idle))?;
            let Some(chunk) = chunk.map_err(|_| Fault::Truncated)? else { break };
            received = received.saturating_add(chunk.len());
            if received > self.limits.response_bytes {
                return Err(Fault::TooLarge(self.limits.response_bytes));
            }
            if matches!(body, Body::Unknown) {
                // The content type is not trusted: some servers send JSON as an event stream, and the reverse.
                body = match chunk.trim_ascii_start().first() {
                    None => Body::Unknown,
                    Some(b'{' | b'[') => Body::Json(Vec::new()),
                    Some(_) => Body::Stream(Events::default()),
                };
            }
            match &mut body {
                Body::Unknown => {}
                Body::Json(bytes) => bytes.extend_from_slice(&chunk),
                Body::Stream(events) => {
                    for data in events.feed(&chunk) {
                        if let Some(result) = self.receive(&data, era, id, progress).await {
                            return result;
                        }
                    }
                }
            }
        }
        match body {
            Body::Unknown => Err(Fault::Invalid("it is empty")),
            Body::Json(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| Fault::Invalid("it is not UTF-8"))?;
                let envelope = Envelope::parse(&text)?;
                if !envelope.answers(id) {
                    return Err(Fault::Invalid("it answers another request"));
                }
                envelope.into_result()
            }
            Body::Stream(events) => match events.finish() {
                Some(data) => self.receive(&data, era, id, progress).await.unwrap_or(Err(Fault::Truncated)),
                None => Err(Fault::Truncated),
            },
        }
    }

    /// Handles a message of an event stream; returns the result if it is the response.
    async fn receive(
        &self,
        data: &str,
        era: &Era,
        id: u64,
        progress: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Option<Result<Box<RawValue>, Fault>> {
        let envelope = match Envelope::parse(data) {
            Ok(envelope) => envelope,
            Err(fault) => return Some(Err(fault)),
        };
        if envelope.answers(id) {
            return Some(envelope.into_result());
        }
        match (envelope.method.as_deref(), envelope.id) {
            (Some("notifications/progress"), None) => {
                let params = envelope.params.map_or("null", RawValue::get);
                if let (Some(relay), Ok(params)) = (progress, serde_json::from_str::<Progress>(params))
                    && params.progress_token == id
                {
                    relay(params);
                }
            }
            (Some(method), Some(theirs)) => self.refuse(era, method, theirs).await,
            // Other notifications, and responses to other requests.
            _ => {}
        }
        None
    }

    /// Responds to a request of the server: to `ping` with a result, to any other with an error, because we declare no
    /// capabilities in a session.
    async fn refuse(&self, era: &Era, method: &str, id: &RawValue) {
        let response = if method == "ping" {
            json!({ "jsonrpc": "2.0", "id": id, "result": {} })
        } else {
            let error =
                json!({ "code": crate::fault::METHOD_NOT_FOUND, "message": "not supported by this client" });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        };
        // The server notices by itself if it gets no response.
        let _sent = self.post(era, HeaderMap::new(), response.to_string().into_bytes()).await;
    }
}
