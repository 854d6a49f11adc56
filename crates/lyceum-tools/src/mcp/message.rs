//! Bytes → one JSON-RPC message, with the faults that the specification names.
//!
//! A good message is read in one pass, straight into what is needed of it. Only a message that does not fit is read
//! again, slowly, to say what is wrong with it.

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
    /// It wants an answer.
    Request(Box<Request>),
    /// It wants none.
    Notification {
        /// What it is about.
        method: String,
        /// The parameters.
        params: JsonObject,
    },
    /// It is an answer to a question of ours; only older sessions have any.
    Response,
}

/// A request, its envelope checked.
#[derive(Debug, Clone)]
pub struct Request {
    /// The id the answer carries.
    pub id: RequestId,
    /// The method.
    pub method: String,
    /// The parameters, without `_meta`.
    pub params: JsonObject,
    /// What `params._meta` says.
    pub meta: Meta,
}

/// Why bytes are not a message.
#[derive(Debug)]
pub struct Refusal {
    /// The error to answer with.
    pub error: ErrorData,
    /// The id, where one could be read.
    pub id: Option<RequestId>,
}

/// A message as it stands on the wire.
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

/// What is there counts, even if it is null.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Incoming {
    /// Reads one message.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        // Text that is known to be UTF-8 as a whole is read faster than bytes.
        let text = str::from_utf8(bytes).unwrap_or_default();
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
            return Err(diagnosis::diagnose(bytes));
        };
        // A derived reader also takes the values alone, as an array.
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
    /// The revision that the request says it speaks; `None` is how older eras look.
    pub fn version(&self) -> Option<&str> {
        self.meta.version.as_deref()
    }

    /// What the request is about: the tool or prompt, or the address to read.
    pub fn name(&self) -> Option<&str> {
        let field = if self.method == "resources/read" { "uri" } else { "name" };
        self.params.get(field).and_then(Value::as_str)
    }

    /// Everything that names what the request is about, of whichever method it is.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        ["name", "uri"].into_iter().filter_map(|field| self.params.get(field).and_then(Value::as_str))
    }

    /// The parameters as the method's own type.
    pub(crate) fn take_params<T: DeserializeOwned>(&mut self) -> Result<T, ErrorData> {
        read_fields(Value::Object(std::mem::take(&mut self.params)))
            .map_err(|fault| ErrorData::invalid_params(format!("params.{fault}"), None))
    }
}
