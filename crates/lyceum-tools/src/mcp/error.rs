//! Maps error codes to JSON-RPC.

use lyceum_model::ErrorCode;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode as RpcCode, ErrorData, MetaObject};
use serde_json::{Value, json};

use crate::{Error, InvalidCursor};

/// The JSON-RPC code of each error code. Codes of our own are outside the range that JSON-RPC and MCP reserve: HTTP
/// status × 10.
fn rpc_code(code: ErrorCode) -> RpcCode {
    match code {
        ErrorCode::ToolNotFound
        | ErrorCode::ValidationError
        | ErrorCode::NotFound
        | ErrorCode::InvalidPath
        | ErrorCode::InvalidQuery
        | ErrorCode::InvalidLimit => RpcCode::INVALID_PARAMS,
        ErrorCode::MethodNotAllowed => RpcCode::METHOD_NOT_FOUND,
        ErrorCode::InternalError => RpcCode::INTERNAL_ERROR,
        ErrorCode::Unauthorized => RpcCode(4010),
        ErrorCode::Forbidden => RpcCode(4030),
        ErrorCode::ScopeMissing => RpcCode(4031),
        ErrorCode::PayloadTooLarge => RpcCode(4130),
        ErrorCode::RateLimited => RpcCode(4290),
        ErrorCode::SearchError => RpcCode(5000),
        ErrorCode::UpstreamError => RpcCode(5020),
        ErrorCode::Unavailable => RpcCode(5030),
        ErrorCode::Timeout => RpcCode(5040),
    }
}

/// Converts an error to a JSON-RPC error, with the code that clients match on in `data.error_code`.
pub fn error_data(error: &Error) -> ErrorData {
    if let Error::ClientCannot { needed } = error {
        return ErrorData::missing_required_client_capability((**needed).clone());
    }
    with_code(error.code(), error.to_string(), error.details())
}

/// Creates a JSON-RPC error from a code and a message.
pub(crate) fn with_code(code: ErrorCode, message: String, details: Option<Value>) -> ErrorData {
    let mut data = json!({ "error_code": code });
    if let (Some(data), Some(Value::Object(details))) = (data.as_object_mut(), details) {
        data.extend(details);
    }
    ErrorData::new(rpc_code(code), message, Some(data))
}

/// Adds the code that clients match on to an error of the protocol, derived from its number.
pub fn add_code(error: &mut ErrorData) {
    let code = match error.code {
        RpcCode::METHOD_NOT_FOUND => ErrorCode::MethodNotAllowed,
        RpcCode::RESOURCE_NOT_FOUND => ErrorCode::NotFound,
        RpcCode::INTERNAL_ERROR => ErrorCode::InternalError,
        _ => ErrorCode::ValidationError,
    };
    let data = error.data.get_or_insert_with(|| json!({}));
    if let Value::Object(data) = data {
        data.entry("error_code").or_insert_with(|| json!(code));
    }
}

/// Converts an error to a tool result, which the model reads.
pub fn failed_result(error: &Error) -> CallToolResult {
    failed_with(error, error.to_string())
}

/// The same as JSON, the body of the REST API. Only as text: structured content must match the schema of the output.
pub(crate) fn failed_json_result(error: &Error) -> CallToolResult {
    let (code, message) = (error.code(), error.to_string());
    let details = error.details().unwrap_or_else(|| json!({}));
    failed_with(
        error,
        json!({ "error": { "code": code, "message": message, "details": details } }).to_string(),
    )
}

fn failed_with(error: &Error, text: String) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    let mut meta = MetaObject::new();
    meta.insert("lyceum/error_code".to_owned(), json!(error.code()));
    result.meta = Some(meta);
    result
}

impl From<InvalidCursor> for Error {
    fn from(error: InvalidCursor) -> Self {
        Self::invalid("cursor", error.to_string())
    }
}
