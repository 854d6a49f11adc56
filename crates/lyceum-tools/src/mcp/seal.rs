//! Seals the state that a client carries between two rounds of a call, so that it can't be changed, replayed for
//! another call or caller, or used after it expires.

use std::time::Duration;

use lyceum_model::Caller;
use rmcp::model::{ErrorData, JsonObject, RequestStateCodec, SealOptions};
use serde_json::Value;

use crate::Error;

/// How long a user may take to respond.
const STATE_TTL: Duration = Duration::from_secs(15 * 60);

/// Seals and opens state with a key of this server.
#[derive(Debug, Clone)]
pub struct Seal(RequestStateCodec);

impl Seal {
    /// Creates a seal with that key.
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
            let text = "requestState: not issued by this server for this call, or expired; retry without it";
            ErrorData::invalid_params(text, None)
        })
    }
}

/// What a state is bound to, besides its caller: method, name and arguments.
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
