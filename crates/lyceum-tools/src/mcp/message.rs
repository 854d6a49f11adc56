//! Bytes → one JSON-RPC message, with the faults that the specification names.

use rmcp::model::{ClientCapabilities, ErrorData, JsonObject, ProgressToken, RequestId, RequestMetaObject};
use serde::Deserialize;
use serde_json::Value;

use crate::LogLevel;

/// A message from a client.
#[derive(Debug)]
pub enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification {
        /// What it is about.
        method: String,
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
    /// `params._meta`.
    pub meta: RequestMetaObject,
}

/// Why bytes are not a message.
#[derive(Debug)]
pub struct Refusal {
    /// The error to answer with.
    pub error: ErrorData,
    /// The id, where one could be read.
    pub id: Option<RequestId>,
}

impl Incoming {
    /// Reads one message.
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| {
            Refusal::new(ErrorData::parse_error(format!("the body is not JSON: {error}"), None))
        })?;
        let object = match value {
            Value::Object(object) => object,
            Value::Array(_) => {
                return Err(Refusal::invalid("batches are not supported: send one message a request"));
            }
            _ => return Err(Refusal::invalid("a message is a JSON object")),
        };
        Self::from_object(object)
    }

    fn from_object(mut object: JsonObject) -> Result<Self, Refusal> {
        let id = match object.remove("id") {
            None => None,
            Some(id) => Some(
                RequestId::deserialize(&id)
                    .map_err(|_| Refusal::invalid("id: must be a string or an integer"))?,
            ),
        };
        let refuse = |message: &'static str| Refusal { id: id.clone(), ..Refusal::invalid(message) };
        if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(refuse("jsonrpc: must be \"2.0\""));
        }
        if object.contains_key("result") || object.contains_key("error") {
            return Ok(Self::Response);
        }
        let method = match object.remove("method") {
            Some(Value::String(method)) => method,
            Some(_) => return Err(refuse("method: must be a string")),
            None => return Err(refuse("method: is missing")),
        };
        let mut params = match object.remove("params") {
            None => JsonObject::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(refuse("params: must be an object")),
        };
        let meta = match params.remove("_meta") {
            None => JsonObject::new(),
            Some(Value::Object(meta)) => meta,
            Some(_) => return Err(refuse("params._meta: must be an object")),
        };
        Ok(match id {
            Some(id) => Self::Request(Request { id, method, params, meta: RequestMetaObject::from(meta) }),
            None => Self::Notification { method },
        })
    }
}

impl Request {
    /// The revision that the request says it speaks; `None` is how older eras look.
    pub fn version(&self) -> Option<&str> {
        self.meta.get("io.modelcontextprotocol/protocolVersion").and_then(Value::as_str)
    }

    /// What the request is about: the tool or prompt, or the address to read.
    pub fn name(&self) -> Option<&str> {
        let field = if self.method == "resources/read" { "uri" } else { "name" };
        self.params.get(field).and_then(Value::as_str)
    }

    /// What the client said it can do.
    pub(crate) fn client(&self) -> Option<ClientCapabilities> {
        self.meta.client_capabilities()
    }

    pub(crate) fn progress_token(&self) -> Option<ProgressToken> {
        self.meta.get_progress_token()
    }

    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        self.meta.get("io.modelcontextprotocol/logLevel").and_then(|level| LogLevel::deserialize(level).ok())
    }

    /// The parameters as the method's own type.
    pub(crate) fn take_params<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T, ErrorData> {
        T::deserialize(Value::Object(std::mem::take(&mut self.params)))
            .map_err(|error| ErrorData::invalid_params(format!("params: {error}"), None))
    }
}

impl Refusal {
    fn new(error: ErrorData) -> Self {
        Self { error, id: None }
    }

    fn invalid(message: &'static str) -> Self {
        Self::new(ErrorData::invalid_request(message, None))
    }
}
