//! Errors of an endpoint, independent of the API.

use std::time::Duration;

use crate::{embedder::EmbedError, reranker::RerankError};

/// Why a request failed. Messages are for operators, and contain no key and no URL.
#[derive(Debug)]
pub(crate) enum EndpointError {
    /// The settings are invalid.
    Unusable(String),
    /// The endpoint can't be reached, or the connection broke.
    Unreachable(String),
    /// No response before the timeout.
    Timeout(Duration),
    /// Rate limited or overloaded (429, 503).
    Busy { status: u16, retry_after: Option<Duration> },
    /// Any other error status.
    Refused { status: u16, message: String },
    /// The response is invalid.
    Malformed(String),
}

impl EndpointError {
    /// Classifies an error of the HTTP client.
    pub(super) fn of(error: reqwest::Error, limit: Duration) -> Self {
        if error.is_timeout() {
            return Self::Timeout(limit);
        }
        Self::Unreachable(lyceum_net::causes(error))
    }
}

impl From<EndpointError> for EmbedError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Unusable(why) => Self::Model(why),
            EndpointError::Unreachable(why) => Self::Unreachable(why),
            EndpointError::Timeout(limit) => Self::Timeout(limit),
            EndpointError::Busy { status, retry_after } => Self::Busy { status, retry_after },
            EndpointError::Refused { status, message } => Self::Refused { status, message },
            EndpointError::Malformed(why) => Self::Malformed(why),
        }
    }
}

impl From<EndpointError> for RerankError {
    fn from(error: EndpointError) -> Self {
        match error {
            EndpointError::Unusable(why) => Self::Model(why),
            EndpointError::Unreachable(why) => Self::Unreachable(why),
            EndpointError::Timeout(limit) => Self::Timeout(limit),
            EndpointError::Busy { status, .. } => Self::Refused { status, message: "it is busy".to_owned() },
            EndpointError::Refused { status, message } => Self::Refused { status, message },
            EndpointError::Malformed(why) => Self::Malformed(why),
        }
    }
}
