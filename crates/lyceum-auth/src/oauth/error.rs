//! OAuth error responses.

use std::fmt;

use serde::Serialize;

/// Error codes of RFC 6749, 7591, 8707 and OpenID Connect that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A parameter is missing, repeated or malformed.
    InvalidRequest,
    /// Unknown client, or client authentication failed.
    InvalidClient,
    /// The code or refresh token is invalid, expired or of another client.
    InvalidGrant,
    /// A scope is unknown, or exceeds the grant.
    InvalidScope,
    /// The resource is unknown, or differs from the grant.
    InvalidTarget,
    /// Unsupported grant type.
    UnsupportedGrantType,
    /// The response type is not `code`.
    UnsupportedResponseType,
    /// The user denied access.
    AccessDenied,
    /// Request objects are not supported.
    RequestNotSupported,
    /// Request objects by reference are not supported.
    RequestUriNotSupported,
    /// Invalid redirect URI in a registration.
    InvalidRedirectUri,
    /// Other invalid client metadata.
    InvalidClientMetadata,
    /// A dependency can't be reached.
    TemporarilyUnavailable,
    /// Internal error.
    ServerError,
}

/// An OAuth error response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{error}: {error_description}")]
pub struct OauthError {
    /// Error code.
    pub error: Fault,
    /// Human-readable description.
    pub error_description: String,
}

impl Fault {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::AccessDenied => "access_denied",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::ServerError => "server_error",
        }
    }

    /// Creates an error with a description. It must be ASCII without quotes, because it is also put into headers
    /// and URLs.
    pub fn because(self, text: impl Into<String>) -> OauthError {
        OauthError { error: self, error_description: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
