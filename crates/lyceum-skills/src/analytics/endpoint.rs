//! The endpoint of usage events. Its URL may contain a secret, so only scheme and host are ever shown.

use std::{fmt, time::Duration};

use lyceum_net::{ClientError, ClientOptions};
use reqwest::{Client, Url};

/// Keep-alive timeout: shorter than that of most receivers.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// URL of an HTTP endpoint for events. Displays scheme and host only.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Why a URL is invalid. Does not repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEndpoint {
    /// It does not parse.
    #[error("is not an absolute URL; write it like https://example.com/events")]
    NotUrl,
    /// It is neither `http` nor `https`.
    #[error("must start with https:// or http://")]
    Scheme,
}

impl Endpoint {
    /// Parses a URL; the only way to create an `Endpoint`.
    pub fn parse(text: &str) -> Result<Self, InvalidEndpoint> {
        let url = Url::parse(text.trim()).map_err(|_| InvalidEndpoint::NotUrl)?;
        match url.scheme() {
            // The parser guarantees a host for these two.
            "http" | "https" => Ok(Self(url)),
            _ => Err(InvalidEndpoint::Scheme),
        }
    }

    pub(super) fn url(&self) -> Url {
        self.0.clone()
    }

    /// Builds an HTTP client for this endpoint. Blocks on the disk.
    pub(super) fn client(&self, timeout: Duration) -> Result<Client, ClientError> {
        let options = ClientOptions {
            timeout: Some(timeout),
            idle_timeout: Some(IDLE_TIMEOUT),
            ..ClientOptions::default()
        };
        lyceum_net::client(&self.0, options)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.0.scheme(), self.0.host_str().unwrap_or_default())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Endpoint({self})")
    }
}
