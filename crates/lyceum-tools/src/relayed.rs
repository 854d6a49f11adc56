//! Results of upstream servers, relayed without decoding: every member keeps its bytes, so that nothing that we don't
//! know is lost, and no number or key order changes.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::{Error, mcp::CallToolResult};

/// The result of a tool call.
#[derive(Debug, Clone)]
pub enum ToolResult {
    /// Of a tool of this server.
    Own(CallToolResult),
    /// Of a tool of an upstream server.
    Relayed(RelayedResult),
}

/// The result of an upstream's tool: an object whose members are raw JSON, in the upstream's order.
#[derive(Debug, Clone)]
pub struct RelayedResult {
    members: Vec<(String, Box<RawValue>)>,
}

/// Why raw JSON is not the result of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the result of a tool call must be an object with an array `content`, and `isError` true or false")]
pub struct InvalidResult;

impl RelayedResult {
    /// Checks what every client relies on: `content` is an array, `isError` a boolean. An absent `content` is added.
    pub fn new(result: &RawValue) -> Result<Self, InvalidResult> {
        let mut relayed: Self = serde_json::from_str(result.get()).map_err(|_| InvalidResult)?;
        match relayed.member("content").map(|content| content.get().starts_with('[')) {
            Some(true) => {}
            None => relayed.set("content", to_raw_value(&[(); 0])),
            Some(false) => return Err(InvalidResult),
        }
        match relayed.member("isError").map(RawValue::get) {
            None | Some("true" | "false") => Ok(relayed),
            Some(_) => Err(InvalidResult),
        }
    }

    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.member("isError").is_some_and(|value| value.get() == "true")
    }

    /// The structured content, decoded; `None` if there is none.
    pub fn structured_content(&self) -> Option<Value> {
        serde_json::from_str(self.member("structuredContent")?.get()).ok()
    }

    /// Adds `resultType`, which MCP 2026-07-28 requires and earlier upstreams don't send, and replaces one key of `_meta`.
    pub(crate) fn stamp(&mut self, key: &str, value: &Value) {
        if self.member("resultType").is_none() {
            self.set("resultType", to_raw_value("complete"));
        }
        let meta = self.member("_meta").and_then(|meta| serde_json::from_str::<Self>(meta.get()).ok());
        let mut meta = meta.unwrap_or(Self { members: Vec::new() });
        meta.set(key, to_raw_value(value));
        self.set("_meta", to_raw_value(&meta));
    }

    /// Decodes it, for sessions of earlier protocol versions. Loses members that the protocol does not define.
    pub fn decode(&self) -> Result<CallToolResult, Error> {
        let value = serde_json::to_value(self).map_err(Error::internal)?;
        CallToolResult::deserialize(value).map_err(Error::internal)
    }

    fn member(&self, name: &str) -> Option<&RawValue> {
        self.members.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// Replaces a member, or adds it at the end.
    fn set(&mut self, name: &str, value: serde_json::Result<Box<RawValue>>) {
        // Serializing our own values can't fail.
        let Ok(value) = value else { return };
        match self.members.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.members.push((name.to_owned(), value)),
        }
    }
}

impl<'de> Deserialize<'de> for RelayedResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = RelayedResult;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RelayedResult, A::Error> {
                let mut members = Vec::with_capacity(map.size_hint().unwrap_or(4));
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RelayedResult { members })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl Serialize for RelayedResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (key, value) in &self.members {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl ToolResult {
    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Own(result) => result.is_error == Some(true),
            Self::Relayed(result) => result.is_error(),
        }
    }

    /// The result as the protocol defines it.
    pub fn decode(self) -> Result<CallToolResult, Error> {
        match self {
            Self::Own(result) => Ok(result),
            Self::Relayed(result) => result.decode(),
        }
    }

    /// The structured content.
    pub fn structured_content(&self) -> Option<Value> {
        match self {
            Self::Own(result) => result.structured_content.clone(),
            Self::Relayed(result) => result.structured_content(),
        }
    }
}

impl From<CallToolResult> for ToolResult {
    fn from(result: CallToolResult) -> Self {
        Self::Own(result)
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(result) => result.serialize(serializer),
            Self::Relayed(result) => result.serialize(serializer),
        }
    }
}
