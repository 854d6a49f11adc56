//! An event as it is written down and sent: one line of JSON.

use jiff::Timestamp;
use serde::Serialize;

use super::{event::Event, id::Id};

/// Which server an event is from, such as `dev-ana`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServerId(String);

impl ServerId {
    /// The server that this user runs.
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

/// The line, with its end.
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
