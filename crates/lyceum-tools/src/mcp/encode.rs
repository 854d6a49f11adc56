//! Messages as bytes, with the server's name on every answer, as the specification asks.
//!
//! The name is the same on each, so it is made once and spliced in; going through JSON values would cost more than
//! all the rest of a small answer.

use rmcp::model::{MetaObject, ServerResult};
use serde_json::{Value, json};

use super::{Message, add_code};

const KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The server's name, ready to be put on answers.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    value: Value,
    /// `,"_meta":{…}}}`: what ends an answer that has no `_meta` of its own.
    ending: Vec<u8>,
}

impl Stamp {
    pub(super) fn new(server_info: Value) -> Self {
        let ending = format!(",\"_meta\":{}}}}}", json!({ KEY: server_info })).into_bytes();
        Self { value: server_info, ending }
    }

    /// The message as compact JSON.
    pub(super) fn encode(&self, mut message: Message) -> Vec<u8> {
        if let Message::Error(error) = &mut message {
            add_code(&mut error.error);
        }
        if let Message::Response(response) = &mut message
            && let ServerResult::CustomResult(result) = &mut response.result
        {
            self.put_on(&mut result.0);
        }
        let spliced = match &mut message {
            Message::Response(response) => match meta_of(&mut response.result) {
                Some(Some(meta)) => {
                    meta.insert(KEY.to_owned(), self.value.clone());
                    false
                }
                Some(None) => true,
                None => false,
            },
            _ => false,
        };
        let mut bytes = Vec::with_capacity(1024);
        // Our own types always have a JSON form.
        let _written = serde_json::to_writer(&mut bytes, &message);
        // An answer ends with its result, and a result is never empty: `…}}` → `…,"_meta":{…}}}`.
        if spliced && bytes.ends_with(b"}}") {
            bytes.truncate(bytes.len() - 2);
            bytes.extend_from_slice(&self.ending);
        }
        bytes
    }

    /// Puts the name on the result of a method of an extension. A `_meta` that is no object is left as it is.
    fn put_on(&self, result: &mut Value) {
        if let Value::Object(result) = result
            && let Value::Object(meta) = result.entry("_meta").or_insert_with(|| json!({}))
        {
            meta.insert(KEY.to_owned(), self.value.clone());
        }
    }
}

/// The `_meta` of a result that the modern era knows; that of an extension is plain JSON, and not among them.
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
