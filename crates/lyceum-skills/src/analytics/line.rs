//! Serialized form of an event: one line of JSON.

use jiff::Timestamp;
use serde::Serialize;

use super::{event::Event, id::Id};

/// Id of the server that an event comes from, such as `dev-ana`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServerId(String);

impl ServerId {
    /// Id of a user's own server.
    pub fn of_user(username: &str) -> Self {
        Self(format!("dev-{username}"))
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: String,
    server_id: &'a ServerId,
    data: &'a Event,
}

/// Serializes an event, with a trailing newline.
pub(super) fn line(
    id: Id,
    event: &Event,
    server_id: &ServerId,
    now: Timestamp,
) -> serde_json::Result<Vec<u8>> {
    let timestamp = format!("{now:.3}");
    let line = Line { id: id.as_str(), kind: event.kind(), timestamp, server_id, data: event };
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    Ok(bytes)
}
