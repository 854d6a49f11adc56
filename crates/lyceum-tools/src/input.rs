//! Asks the user for input during a call.
//!
//! A tool does not wait: it returns [`Outcome::NeedInput`] and is called again with the responses and its state. MCP
//! 2026-07-28 works the same way; for earlier versions the transport asks over the open session and repeats the call.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer, de::DeserializeOwned, ser::Error as _};
use serde_json::Value;

use crate::{
    Error,
    mcp::{ClientCapabilities, InputRequest},
};

/// How a call ended.
#[derive(Debug)]
pub enum Outcome<T> {
    /// With a result.
    Done(T),
    /// With requests for input; the client calls again with the responses.
    NeedInput(NeedInput),
}

impl<T> Outcome<T> {
    /// Maps the result.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Done(result) => Outcome::Done(convert(result)),
            Self::NeedInput(need) => Outcome::NeedInput(need),
        }
    }
}

/// Has the schema of the result, for tools that return an `Outcome`.
impl<T: JsonSchema> JsonSchema for Outcome<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }
}

/// Serializes the result; a request for input is none.
impl<T: Serialize> Serialize for Outcome<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Done(result) => result.serialize(serializer),
            Self::NeedInput(_) => Err(S::Error::custom("a request for input is not a result")),
        }
    }
}

/// The input that a call needs to continue.
#[derive(Debug, Default)]
pub struct NeedInput {
    /// The requests, each under a key that the tool chooses.
    pub requests: BTreeMap<String, InputRequest>,
    /// State of the tool. The client carries it sealed, and can't change it.
    pub state: Option<Value>,
}

/// The input of earlier rounds: responses, and the state of the tool.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// The responses, by the keys of the requests.
    pub answers: BTreeMap<String, Value>,
    /// The state of the tool, unsealed.
    pub state: Option<Value>,
}

impl Input {
    /// Deserializes the response under that key, if there is one of that type.
    pub fn answer<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.answers.get(key).and_then(|answer| T::deserialize(answer).ok())
    }
}

impl NeedInput {
    /// Asks one question.
    pub fn ask(key: impl Into<String>, request: InputRequest) -> Self {
        Self { requests: BTreeMap::from([(key.into(), request)]), state: None }
    }

    /// Adds state for the next round.
    pub fn with_state(mut self, state: Value) -> Self {
        self.state = Some(state);
        self
    }

    /// Checks that there is a request or a state, and that the client declared the capabilities for it.
    pub fn check(&self, client: &ClientCapabilities) -> Result<(), Error> {
        if self.requests.is_empty() && self.state.is_none() {
            return Err(Error::internal("a call returned neither a result, a request for input nor a state"));
        }
        let mut missing = ClientCapabilities::default();
        for request in self.requests.values() {
            crate::mcp::require(&mut missing, client, request);
        }
        if missing == ClientCapabilities::default() {
            return Ok(());
        }
        Err(Error::ClientCannot { needed: Box::new(missing) })
    }
}
