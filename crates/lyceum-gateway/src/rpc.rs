//! JSON-RPC messages: what we send, and what an upstream sends, with results left as raw JSON.

use std::borrow::Cow;

use lyceum_tools::mcp::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Fault;

/// A request or a notification of ours.
#[derive(Serialize)]
pub(crate) struct Outgoing<'a> {
    pub jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    pub method: &'a str,
    pub params: &'a JsonObject,
}

impl Outgoing<'_> {
    /// Encodes it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Serializing JSON can't fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A message of an upstream.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
}

/// The message and the data of an error are not read: they are the upstream's text.
#[derive(Debug, Deserialize)]
struct RpcError {
    code: i64,
}

impl<'a> Envelope<'a> {
    /// Parses a message. Only an object is one.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Fault> {
        if !text.trim_start().starts_with('{') {
            return Err(Fault::Invalid("it is not a JSON-RPC message"));
        }
        serde_json::from_str(text).map_err(|_| Fault::Invalid("it is not a JSON-RPC message"))
    }

    /// Whether it is the response to the request with that id.
    pub(crate) fn answers(&self, id: u64) -> bool {
        self.method.is_none() && self.id.is_some_and(|sent| sent.get() == id.to_string())
    }

    /// The result of a response.
    pub(crate) fn into_result(self) -> Result<Box<RawValue>, Fault> {
        match (self.result, self.error) {
            (_, Some(RpcError { code })) => Err(Fault::Rpc(code)),
            (Some(result), None) => Ok(result.to_owned()),
            (None, None) => Err(Fault::Invalid("it has neither a result nor an error")),
        }
    }
}
