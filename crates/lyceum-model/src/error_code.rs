//! The closed list of error codes that clients see, the same for every transport.
//!
//! The names are stable: clients match on them. Each transport maps a code to an HTTP status or a JSON-RPC code in
//! one table.

use std::fmt;

use serde::Serialize;

/// Machine-readable error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// No tool has that name, or the caller may not see it.
    ToolNotFound,
    /// The caller lacks a scope or tier that the tool requires.
    ScopeMissing,
    /// The request is well formed, but an argument or field is invalid.
    ValidationError,
    /// An upstream server failed.
    UpstreamError,
    /// The caller, or the `Origin` of its request, may not do this.
    Forbidden,
    /// No credentials, or invalid ones.
    Unauthorized,
    /// Nothing exists under that name or path.
    NotFound,
    /// The path is invalid or leaves its root.
    InvalidPath,
    /// The query is too short, too long or not text.
    InvalidQuery,
    /// The limit is out of range.
    InvalidLimit,
    /// The search failed.
    SearchError,
    /// The path doesn't support the HTTP method.
    MethodNotAllowed,
    /// The request is too large.
    PayloadTooLarge,
    /// The caller exceeded a rate limit.
    RateLimited,
    /// The time limit was exceeded.
    Timeout,
    /// The server is temporarily unable to handle the request; a retry may succeed.
    Unavailable,
    /// An internal error.
    InternalError,
}

impl ErrorCode {
    /// Every code, in the order of the documentation.
    pub const ALL: [Self; 17] = [
        Self::ToolNotFound,
        Self::ScopeMissing,
        Self::ValidationError,
        Self::UpstreamError,
        Self::Forbidden,
        Self::Unauthorized,
        Self::NotFound,
        Self::InvalidPath,
        Self::InvalidQuery,
        Self::InvalidLimit,
        Self::SearchError,
        Self::MethodNotAllowed,
        Self::PayloadTooLarge,
        Self::RateLimited,
        Self::Timeout,
        Self::Unavailable,
        Self::InternalError,
    ];

    /// The name on the wire, such as `TOOL_NOT_FOUND`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolNotFound => "TOOL_NOT_FOUND",
            Self::ScopeMissing => "SCOPE_MISSING",
            Self::ValidationError => "VALIDATION_ERROR",
            Self::UpstreamError => "UPSTREAM_ERROR",
            Self::Forbidden => "FORBIDDEN",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::NotFound => "NOT_FOUND",
            Self::InvalidPath => "INVALID_PATH",
            Self::InvalidQuery => "INVALID_QUERY",
            Self::InvalidLimit => "INVALID_LIMIT",
            Self::SearchError => "SEARCH_ERROR",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::RateLimited => "RATE_LIMITED",
            Self::Timeout => "TIMEOUT",
            Self::Unavailable => "UNAVAILABLE",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
