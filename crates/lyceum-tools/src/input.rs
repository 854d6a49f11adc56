//! Asking the person behind the client, in the middle of a call.
//!
//! A tool does not wait: it ends with [`Outcome::NeedInput`] and is called again with the answers and the state it
//! left. The modern protocol works just so; for older clients the door asks over the open session and calls again.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    Error,
    mcp::{ClientCapabilities, InputRequest},
};

/// How a call ended.
#[derive(Debug)]
pub enum Outcome<T> {
    /// With an answer.
    Done(T),
    /// With questions; the call is to be made again with the answers.
    NeedInput(NeedInput),
}

impl<T> Outcome<T> {
    /// The same outcome with the answer in another form.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Done(answer) => Outcome::Done(form(answer)),
            Self::NeedInput(need) => Outcome::NeedInput(need),
        }
    }
}

/// What is needed to go on.
#[derive(Debug, Default)]
pub struct NeedInput {
    /// The questions, each under a key of the tool's choice.
    pub requests: BTreeMap<String, InputRequest>,
    /// What the tool wants to find again. It travels sealed, so that the client can keep but not change it.
    pub state: Option<Value>,
}

/// What came back: the answers so far and the state that was left.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// The answers, by the keys of the questions.
    pub answers: BTreeMap<String, Value>,
    /// The state that the tool left, unsealed.
    pub state: Option<Value>,
}

impl Input {
    /// The answer under that key, where there is one of that form.
    pub fn answer<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.answers.get(key).and_then(|answer| T::deserialize(answer).ok())
    }
}

impl NeedInput {
    /// One question.
    pub fn ask(key: impl Into<String>, request: InputRequest) -> Self {
        Self { requests: BTreeMap::from([(key.into(), request)]), state: None }
    }

    /// The same, with something to find again.
    pub fn with_state(mut self, state: Value) -> Self {
        self.state = Some(state);
        self
    }

    /// Checks that there is something to ask or to keep, and that the client said it can answer.
    pub fn check(&self, client: &ClientCapabilities) -> Result<(), Error> {
        if self.requests.is_empty() && self.state.is_none() {
            return Err(Error::internal("a call ended with neither an answer nor a question"));
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
