//! Why an upstream did not answer as expected. The text is ours: nothing that the upstream sent is in it.

use std::time::Duration;

use lyceum_model::{Domain, ErrorCode};
use lyceum_net::{BodyError, category};
use lyceum_tools::Error;
use serde_json::json;

/// The JSON-RPC code for invalid parameters.
const INVALID_PARAMS: i64 = -32602;

/// The JSON-RPC code for an unknown method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// Why an upstream did not answer as expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No connection, or it broke before the response began.
    #[error("cannot be reached: {0}")]
    Unreachable(&'static str),
    /// No complete response in time.
    #[error("did not answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// HTTP status 401 or 403.
    #[error("rejects the credential of this server (HTTP status {0}); check token_env")]
    Unauthorized(u16),
    /// HTTP status 429.
    #[error("limits the rate of our requests")]
    RateLimited {
        /// When it wants the next request.
        retry_after: Option<Duration>,
    },
    /// Any other HTTP status that is not a success.
    #[error("answered with HTTP status {0}")]
    Status(u16),
    /// The response exceeds the limit.
    #[error("sent a response of more than {0} bytes")]
    TooLarge(usize),
    /// The connection ended before the response did.
    #[error("closed the connection before the response was complete")]
    Truncated,
    /// The response does not follow the protocol.
    #[error("sent an invalid response: {0}")]
    Invalid(&'static str),
    /// A JSON-RPC error. Its message is not kept.
    #[error("answered with the JSON-RPC error {0}")]
    Rpc(i64),
    /// The structured result does not match the output schema of the tool.
    #[error("sent a result that does not match the output schema of the tool")]
    Output,
    /// A tool of the upstream failed, and its text must not be relayed.
    #[error("reported that the tool failed")]
    Failed,
    /// The session has expired.
    #[error("ended the session")]
    SessionGone,
    /// All connections are in use.
    #[error("is busy with other calls")]
    Busy,
    /// It has not answered yet since the start.
    #[error("has not been reached yet")]
    Pending,
}

impl Fault {
    /// A stable name, for clients and `/health`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Timeout(_) => "timeout",
            Self::Unauthorized(_) => "unauthorized",
            Self::RateLimited { .. } => "rate_limited",
            Self::Status(_) => "http_status",
            Self::TooLarge(_) => "too_large",
            Self::Truncated => "truncated",
            Self::Invalid(_) => "invalid_response",
            Self::Rpc(_) => "error_response",
            Self::Output => "invalid_output",
            Self::Failed => "tool_failed",
            Self::SessionGone => "session_ended",
            Self::Busy => "busy",
            Self::Pending => "pending",
        }
    }

    /// Whether the upstream itself may be down, or its list of tools outdated.
    pub(crate) fn needs_probe(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::Timeout(_)
            | Self::Unauthorized(_)
            | Self::Truncated
            | Self::Rpc(_)
            | Self::SessionGone => true,
            Self::Status(status) => *status >= 500 || *status == 404,
            Self::RateLimited { .. }
            | Self::TooLarge(_)
            | Self::Invalid(_)
            | Self::Output
            | Self::Failed
            | Self::Busy
            | Self::Pending => false,
        }
    }

    /// The error that callers see: one of the gateway's codes, and nothing of the upstream's text.
    pub(crate) fn error(&self, upstream: &Domain) -> Error {
        let mut details = json!({ "upstream": upstream, "reason": self.reason() });
        if let (Self::RateLimited { retry_after: Some(wait) }, Some(details)) =
            (self, details.as_object_mut())
        {
            details.insert("retry_after_seconds".to_owned(), wait.as_secs().into());
        }
        match self {
            // The arguments matched the schema, but the upstream has rules that the schema does not express.
            Self::Rpc(INVALID_PARAMS) => Error::Detailed {
                code: ErrorCode::ValidationError,
                message: format!(
                    "{upstream} rejects these arguments; read the description of the tool again"
                ),
                details,
            },
            fault => Error::Detailed {
                code: ErrorCode::UpstreamError,
                message: format!("{upstream} {fault}; try again later"),
                details,
            },
        }
    }
}

impl From<reqwest::Error> for Fault {
    fn from(error: reqwest::Error) -> Self {
        Self::Unreachable(category(&error))
    }
}

impl From<BodyError> for Fault {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { limit } => Self::TooLarge(limit),
            BodyError::Broken(_) => Self::Truncated,
        }
    }
}
