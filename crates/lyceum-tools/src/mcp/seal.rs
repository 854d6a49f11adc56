//! The state that a tool leaves with the client between two rounds, sealed so that it can't be changed, moved to
//! another call or another caller, or used after its time.

use std::time::Duration;

use lyceum_model::Caller;
use rmcp::model::{ErrorData, JsonObject, RequestStateCodec, SealOptions};
use serde_json::Value;

use crate::Error;

/// How long a person may take to answer.
const STATE_TTL: Duration = Duration::from_secs(15 * 60);

/// Seals and opens states with a key that only this server knows.
#[derive(Debug, Clone)]
pub struct Seal(RequestStateCodec);

impl Seal {
    /// A seal with that key.
    pub fn new(key: [u8; 32]) -> Self {
        Self(RequestStateCodec::new_unchecked(key))
    }

    pub(crate) fn close(&self, state: &Value, caller: &Caller, bound_to: &Binding) -> Result<String, Error> {
        let data = bound_to.data(caller);
        let options = SealOptions::new().associated_data(&data).ttl(STATE_TTL);
        self.0.seal_json_with(state, &options).map_err(Error::internal)
    }

    pub(crate) fn open(&self, sealed: &str, caller: &Caller, bound_to: &Binding) -> Result<Value, ErrorData> {
        self.0.open_json_with(sealed, &bound_to.data(caller)).map_err(|_| {
            let text = "requestState: is not one that this server gave for this call, or is too old; call again without it";
            ErrorData::invalid_params(text, None)
        })
    }
}

/// What a state is bound to beside its caller: the method, the name and the arguments.
pub(crate) struct Binding {
    method: String,
    name: String,
    arguments: JsonObject,
}

impl Binding {
    pub(crate) fn new(method: &str, name: &str, arguments: &JsonObject) -> Self {
        Self { method: method.to_owned(), name: name.to_owned(), arguments: arguments.clone() }
    }

    fn data(&self, caller: &Caller) -> Vec<u8> {
        serde_json::to_vec(&(caller.subject(), &self.method, &self.name, &self.arguments)).unwrap_or_default()
    }
}
