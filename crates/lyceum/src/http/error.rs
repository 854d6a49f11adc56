//! Maps error codes to HTTP responses: `{ error: { code, message, details?, retry_after? } }`.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use lyceum_model::ErrorCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// The HTTP status of each error code.
pub(crate) fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::ValidationError
        | ErrorCode::InvalidPath
        | ErrorCode::InvalidQuery
        | ErrorCode::InvalidLimit => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden | ErrorCode::ScopeMissing => StatusCode::FORBIDDEN,
        ErrorCode::ToolNotFound | ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::InternalError | ErrorCode::SearchError => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::UpstreamError => StatusCode::BAD_GATEWAY,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// An error response.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct ApiError {
    /// Error code, for programs.
    #[schemars(with = "String", extend("enum" = ErrorCode::ALL))]
    pub code: ErrorCode,
    /// What failed, why and what to do, for people.
    pub message: String,
    /// Machine-readable details, such as the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The HTTP status, if it differs from the one of the code.
    #[serde(skip)]
    pub status: Option<StatusCode>,
    /// Seconds after which a retry may succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None, status: None, retry_after: None }
    }

    /// Creates an error about a parameter. The message says how to fix it.
    pub(crate) fn invalid(field: &str, message: impl std::fmt::Display) -> Self {
        let error = Self::new(ErrorCode::ValidationError, format!("{field}: {message}"));
        Self { details: Some(json!({ "field": field })), ..error }
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status.unwrap_or_else(|| status(self.code))
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = Some(status);
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

/// The body of an error response.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    error: ApiError,
}

impl From<&lyceum_tools::Error> for ApiError {
    fn from(error: &lyceum_tools::Error) -> Self {
        Self { details: error.details(), ..Self::new(error.code(), error.to_string()) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        let retry_after = self.retry_after;
        let mut response = (status, Json(ErrorBody { error: self })).into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
