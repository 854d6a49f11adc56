//! Encodes messages, with `serverInfo` in the `_meta` of every response, as the specification asks.
//!
//! `serverInfo` never changes, so it is encoded once and spliced in. Going through `Value` would cost more than the
//! rest of a small response.

use rmcp::model::{MetaObject, ServerResult};
use serde_json::{Value, json};

use super::{Message, MessageResult, add_code};

const KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Adds `serverInfo` to responses.
#[derive(Debug, Clone)]
pub(super) struct ServerInfoStamp {
    value: Value,
    /// `,"_meta":{…}}}`: the end of a response that has no `_meta` of its own.
    ending: Vec<u8>,
}

impl ServerInfoStamp {
    pub(super) fn new(server_info: Value) -> Self {
        let ending = format!(",\"_meta\":{}}}}}", json!({ KEY: server_info })).into_bytes();
        Self { value: server_info, ending }
    }

    /// Encodes a message as compact JSON.
    pub(super) fn encode(&self, mut message: Message) -> Vec<u8> {
        if let Message::Error(error) = &mut message {
            add_code(&mut error.error);
        }
        let spliced = match &mut message {
            Message::Response(response) => match &mut response.result {
                MessageResult::Relayed(result) => {
                    result.stamp(KEY, &self.value);
                    false
                }
                MessageResult::Own(result) => self.add_to_own(result),
            },
            _ => false,
        };
        let mut bytes = Vec::with_capacity(1024);
        // Serializing our own types can't fail.
        let _written = serde_json::to_writer(&mut bytes, &message);
        // A response ends with its result, and a result is never empty: `…}}` → `…,"_meta":{…}}}`.
        if spliced && bytes.ends_with(b"}}") {
            bytes.truncate(bytes.len() - 2);
            bytes.extend_from_slice(&self.ending);
        }
        bytes
    }

    /// Adds `serverInfo` to a result of ours, unless it can be spliced in after encoding.
    fn add_to_own(&self, result: &mut ServerResult) -> bool {
        if let ServerResult::CustomResult(result) = result {
            self.add_to(&mut result.0);
        }
        match meta_of(result) {
            Some(Some(meta)) => {
                meta.insert(KEY.to_owned(), self.value.clone());
                false
            }
            Some(None) => true,
            None => false,
        }
    }

    /// Adds `serverInfo` to the result of an extension method. A `_meta` that is not an object stays as it is.
    fn add_to(&self, result: &mut Value) {
        if let Value::Object(result) = result
            && let Value::Object(meta) = result.entry("_meta").or_insert_with(|| json!({}))
        {
            meta.insert(KEY.to_owned(), self.value.clone());
        }
    }
}

/// The `_meta` of a standard result. The result of an extension method is plain JSON and handled separately.
fn meta_of(result: &mut ServerResult) -> Option<&mut Option<MetaObject>> {
    Some(match result {
        ServerResult::DiscoverResult(result) => &mut result.meta,
        ServerResult::ListToolsResult(result) => &mut result.meta,
        ServerResult::ListResourcesResult(result) => &mut result.meta,
        ServerResult::ListResourceTemplatesResult(result) => &mut result.meta,
        ServerResult::ListPromptsResult(result) => &mut result.meta,
        ServerResult::CallToolResult(result) => &mut result.meta,
        ServerResult::GetPromptResult(result) => &mut result.meta,
        ServerResult::ReadResourceResult(result) => &mut result.meta,
        ServerResult::CompleteResult(result) => &mut result.meta,
        ServerResult::InputRequiredResult(result) => &mut result.meta,
        _ => return None,
    })
}
