//! What a client is told when it can't have what it asked for, in the words of the RFCs.

use std::fmt;

use serde::Serialize;

/// The codes of RFC 6749, 7591, 8707 and OpenID Connect that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A parameter is missing, sent twice or not well formed.
    InvalidRequest,
    /// The client is not known, or did not prove that it is itself.
    InvalidClient,
    /// The code or the refresh token is not good, or not for this client.
    InvalidGrant,
    /// A scope is not known, or more than was granted.
    InvalidScope,
    /// The resource is not one of ours, or not the one that was granted.
    InvalidTarget,
    /// The grant type is none of ours.
    UnsupportedGrantType,
    /// The response type is not `code`.
    UnsupportedResponseType,
    /// The person said no.
    AccessDenied,
    /// Request objects are not taken.
    RequestNotSupported,
    /// Request objects by reference are not taken.
    RequestUriNotSupported,
    /// A redirect address can't be registered.
    InvalidRedirectUri,
    /// Something else can't be registered.
    InvalidClientMetadata,
    /// What is needed can't be reached now.
    TemporarilyUnavailable,
    /// A fault of ours.
    ServerError,
}

/// A refusal, as clients get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{error}: {error_description}")]
pub struct OauthError {
    /// For a program.
    pub error: Fault,
    /// For a person.
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

    /// A refusal with this code. The text is ASCII without quotes, for it is also put into headers and addresses.
    pub fn because(self, text: impl Into<String>) -> OauthError {
        OauthError { error: self, error_description: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
