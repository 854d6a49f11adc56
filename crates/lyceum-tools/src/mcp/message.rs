//! Parses one JSON-RPC message, with the errors that the specification names.
//!
//! A valid message is parsed in one pass, without an intermediate `Value`. Only an invalid one is parsed again, to
//! diagnose what is wrong.

mod diagnosis;
mod params;

use std::borrow::Cow;

use rmcp::model::{ErrorData, JsonObject, RequestId};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::Value;

pub use params::Meta;

use crate::read_fields;
use params::Params;

/// A message from a client.
#[derive(Debug)]
pub enum Incoming {
    /// Expects a response.
    Request(Box<Request>),
    /// Expects no response.
    Notification {
        /// The method.
        method: String,
        /// The parameters.
        params: JsonObject,
    },
    /// A response to a request of ours; only sessions of earlier versions have any.
    Response,
}

/// A request with a valid envelope.
#[derive(Debug, Clone)]
pub struct Request {
    /// The id of the response.
    pub id: RequestId,
    /// The method.
    pub method: String,
    /// The parameters, without `_meta`.
    pub params: JsonObject,
    /// The contents of `params._meta`.
    pub meta: Meta,
}

/// Why bytes are not a valid message.
#[derive(Debug)]
pub struct Refusal {
    /// The error to respond with.
    pub error: ErrorData,
    /// The id, if it could be parsed.
    pub id: Option<RequestId>,
}

/// A message as it is on the wire.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    /// Absent in a notification; null is not an id.
    #[serde(default, deserialize_with = "present")]
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default)]
    params: Params,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

/// Distinguishes a null from an absent field: a null is `Some`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Incoming {
    /// Parses one message.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        // Parsing a `str` is faster than parsing bytes, which checks UTF-8 per string.
        let text = str::from_utf8(bytes).unwrap_or_default();
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
            return Err(diagnosis::diagnose(bytes));
        };
        // A derived deserializer would also accept an array of the values.
        if envelope.jsonrpc != "2.0" || bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(diagnosis::diagnose(bytes));
        }
        if envelope.result.is_some() || envelope.error.is_some() {
            return Ok(Self::Response);
        }
        let Some(method) = envelope.method.map(Cow::into_owned) else {
            return Err(diagnosis::diagnose(bytes));
        };
        let Params { meta, rest: params } = envelope.params;
        Ok(match envelope.id {
            Some(id) => Self::Request(Box::new(Request { id, method, params, meta })),
            None => Self::Notification { method, params },
        })
    }
}

impl Request {
    /// The protocol version in `_meta`; `None` in a request of an earlier version.
    pub fn version(&self) -> Option<&str> {
        self.meta.version.as_deref()
    }

    /// The name of the tool or prompt, or the URI of the resource.
    pub fn name(&self) -> Option<&str> {
        let field = if self.method == "resources/read" { "uri" } else { "name" };
        self.params.get(field).and_then(Value::as_str)
    }

    /// All names and URIs in the parameters, whatever the method.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        ["name", "uri"].into_iter().filter_map(|field| self.params.get(field).and_then(Value::as_str))
    }

    /// Deserializes the parameters.
    pub(crate) fn take_params<T: DeserializeOwned>(&mut self) -> Result<T, ErrorData> {
        read_fields(Value::Object(std::mem::take(&mut self.params)))
            .map_err(|fault| ErrorData::invalid_params(format!("params.{fault}"), None))
    }
}
