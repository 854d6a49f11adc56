//! Diagnoses an invalid message, from the outside in.

use rmcp::model::{ErrorData, JsonObject, RequestId};
use serde::Deserialize;
use serde_json::Value;

use super::{Refusal, params::Params};

/// Finds what is wrong with an invalid message.
pub(super) fn diagnose(bytes: &[u8]) -> Refusal {
    match serde_json::from_slice::<Value>(bytes) {
        Err(error) => refuse(ErrorData::parse_error(format!("the body is not JSON: {error}"), None), None),
        Ok(Value::Array(_)) => invalid("batches are not supported: send one message per request", None),
        Ok(Value::Object(object)) => diagnose_object(object),
        Ok(_) => invalid("a message must be a JSON object", None),
    }
}

fn diagnose_object(mut object: JsonObject) -> Refusal {
    let id = match object.remove("id").map(RequestId::deserialize) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return invalid("id: must be a string or an integer", None),
    };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("jsonrpc: must be \"2.0\"", id);
    }
    match object.get("method") {
        Some(Value::String(_)) => {}
        Some(_) => return invalid("method: must be a string", id),
        None => return invalid("method: is missing", id),
    }
    match object.remove("params").map(Params::deserialize) {
        Some(Err(error)) => refuse(ErrorData::invalid_params(format!("params: {error}"), None), id),
        // Such as a duplicate key.
        _ => invalid("the message is not a valid JSON-RPC message", id),
    }
}

fn invalid(message: &'static str, id: Option<RequestId>) -> Refusal {
    refuse(ErrorData::invalid_request(message, None), id)
}

fn refuse(error: ErrorData, id: Option<RequestId>) -> Refusal {
    Refusal { error, id }
}
