//! Our codes in JSON-RPC, by one table.

use lyceum_model::ErrorCode;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode as RpcCode, ErrorData, MetaObject};
use serde_json::{Value, json};

use crate::{Error, PageFault};

/// The table. Codes of our own lie outside the range that JSON-RPC and MCP reserve: the HTTP status times ten.
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

/// An error of ours as a JSON-RPC error, with the code clients match on in `data.error_code`.
pub fn error_data(error: &Error) -> ErrorData {
    if let Error::ClientCannot { needed } = error {
        return ErrorData::missing_required_client_capability((**needed).clone());
    }
    with_code(error.code(), error.to_string(), error.details())
}

/// An error made of its code and its text.
pub(crate) fn with_code(code: ErrorCode, message: String, details: Option<Value>) -> ErrorData {
    let mut data = json!({ "error_code": code });
    if let (Some(data), Some(Value::Object(details))) = (data.as_object_mut(), details) {
        data.extend(details);
    }
    ErrorData::new(rpc_code(code), message, Some(data))
}

/// Puts the code clients match on into an error of the protocol itself, where it is known by its number alone.
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

/// An error of ours as a result that the model reads.
pub fn failed_result(error: &Error) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
    let mut meta = MetaObject::new();
    meta.insert("lyceum/error_code".to_owned(), json!(error.code()));
    result.meta = Some(meta);
    result
}

impl From<PageFault> for Error {
    fn from(fault: PageFault) -> Self {
        Self::invalid("cursor", fault.to_string())
    }
}
