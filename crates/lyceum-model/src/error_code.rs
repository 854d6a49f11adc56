//! The closed list of codes that clients see, whatever the door.
//!
//! The names are a promise: clients match on them. The doors turn a code into an HTTP status or a
//! JSON-RPC code by one table each.

use std::fmt;

use serde::Serialize;

/// What went wrong, for a program to match on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// No tool has that name, or the caller may not know that one has.
    ToolNotFound,
    /// The caller lacks a scope or a tier that the tool needs.
    ScopeMissing,
    /// The request is well formed, but its content is not what was asked for.
    ValidationError,
    /// Another server that we depend on failed.
    UpstreamError,
    /// The caller, or the page it comes from, may not do this.
    Forbidden,
    /// The caller has not said who it is, or the proof is not good.
    Unauthorized,
    /// There is nothing under that name or path.
    NotFound,
    /// The path is not one that stays below its root.
    InvalidPath,
    /// The query is too short, too long or not text.
    InvalidQuery,
    /// The limit is out of its range.
    InvalidLimit,
    /// The search could not be carried out.
    SearchError,
    /// The HTTP method is not one that this path takes.
    MethodNotAllowed,
    /// The request is too large.
    PayloadTooLarge,
    /// The caller sent more than its share.
    RateLimited,
    /// The work was not done within its time limit.
    Timeout,
    /// The server can't take this now; the same request may work later.
    Unavailable,
    /// A fault of ours.
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
