//! Why a request to GitHub failed. Messages are for the caller, and contain no token.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_model::ErrorCode;
use lyceum_net::{BodyError, Secret};
use reqwest::header::HeaderMap;
use serde::Deserialize;

use super::rate_limit;

/// Maximum size of the body of an error to read.
pub(super) const MAX_ERROR_BODY_BYTES: usize = 16 * 1024;

/// Maximum length of a message of GitHub's that is passed on.
const MAX_MESSAGE_CHARS: usize = 300;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// 401: the token is invalid, expired or revoked.
    #[error("GitHub does not accept the token{}", quoted(.message))]
    Unauthorized {
        /// GitHub's message.
        message: String,
    },
    /// 403 that is not a rate limit.
    #[error("GitHub refuses this to the owner of the token{}", quoted(.message))]
    Forbidden {
        /// GitHub's message.
        message: String,
        /// Whether it is refused because the file is too large for the media type.
        is_too_large: bool,
    },
    /// 404: there is no such file, branch or repository, or the token may not see it.
    #[error("not found at GitHub, or the token may not read it")]
    NotFound,
    /// A primary or secondary rate limit.
    #[error("GitHub's rate limit for this token is reached; retry in {} seconds", retry_after.as_secs().max(1))]
    RateLimited {
        /// The status, 403 or 429.
        status: u16,
        /// When to retry.
        retry_after: Duration,
    },
    /// Any other status that is not a success.
    #[error("GitHub answered with status {status}{}", quoted(.message))]
    Status {
        /// The status.
        status: u16,
        /// GitHub's message.
        message: String,
    },
    /// A redirect to another host, where the token must not be sent, or too many of them.
    #[error("GitHub redirects to where the token is not sent; is the repository moved to another host?")]
    Redirected {
        /// The status.
        status: u16,
    },
    /// The response is larger than allowed.
    #[error("the file is larger than {limit} bytes; read it with git")]
    TooLarge {
        /// Maximum size in bytes.
        limit: usize,
    },
    /// The connection failed.
    #[error("GitHub can't be reached: {reason}; retry later")]
    Unreachable {
        /// The category of the failure.
        reason: &'static str,
        /// Whether GitHub may have got the request.
        was_sent: bool,
        /// The cause, for the log.
        cause: String,
    },
    /// The deadline passed.
    #[error("GitHub did not answer in time; retry later")]
    TimedOut,
    /// A request or response that is not as documented.
    #[error("the {0} is not as GitHub's documentation says")]
    Invalid(&'static str),
}

/// The body of an error.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    message: String,
    errors: Vec<serde_json::Value>,
}

impl Error {
    /// The error for a response.
    pub(super) fn of(
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
        token: Option<&Secret>,
        now: Timestamp,
    ) -> Self {
        let Body { message, errors } = serde_json::from_slice(body).unwrap_or_default();
        if let Some(retry_after) = rate_limit::wait(status, headers, &message, now) {
            return Self::RateLimited { status, retry_after };
        }
        let is_too_large =
            errors.iter().any(|error| error.get("code").is_some_and(|code| code == "too_large"));
        let details = errors.iter().filter_map(|error| error.get("message").unwrap_or(error).as_str());
        let message = std::iter::once(message.as_str()).chain(details).collect::<Vec<_>>().join(": ");
        let message = printable(&message, token);
        match status {
            401 => Self::Unauthorized { message },
            403 => Self::Forbidden { message, is_too_large },
            404 => Self::NotFound,
            status => Self::Status { status, message },
        }
    }

    /// The error for a token that can't be sent in a header.
    pub(super) fn bad_token() -> Self {
        Self::Unauthorized { message: "it is not one word of visible characters".to_owned() }
    }

    /// The code clients see.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unauthorized { .. } => ErrorCode::Unauthorized,
            Self::Forbidden { .. } => ErrorCode::Forbidden,
            Self::NotFound => ErrorCode::NotFound,
            Self::RateLimited { .. }
            | Self::Status { .. }
            | Self::Redirected { .. }
            | Self::TooLarge { .. }
            | Self::Unreachable { .. }
            | Self::TimedOut
            | Self::Invalid(_) => ErrorCode::UpstreamError,
        }
    }

    /// The status of GitHub's response, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Unauthorized { .. } => Some(401),
            Self::Forbidden { .. } => Some(403),
            Self::NotFound => Some(404),
            Self::RateLimited { status, .. } | Self::Status { status, .. } | Self::Redirected { status } => {
                Some(*status)
            }
            Self::TooLarge { .. } | Self::Unreachable { .. } | Self::TimedOut | Self::Invalid(_) => None,
        }
    }
}

impl From<BodyError> for Error {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { limit } => Self::TooLarge { limit },
            BodyError::Broken(error) => super::unreachable(error),
        }
    }
}

/// GitHub's message on one line, without the token and of limited length.
fn printable(message: &str, token: Option<&Secret>) -> String {
    let message = token.map_or_else(|| message.to_owned(), |token| token.redact(message));
    let clean = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(MAX_MESSAGE_CHARS).collect::<String>().trim().trim_end_matches('.').to_owned()
}

fn quoted(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
