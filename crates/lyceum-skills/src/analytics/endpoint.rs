//! Where events are sent. The address may hold a secret, so it is never shown beyond its scheme and host.

use std::{fmt, time::Duration};

use lyceum_net::{ClientError, ClientOptions};
use reqwest::{Client, Url};

/// How long a connection may be idle: shorter than what most receivers keep one open for.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// An address that takes events by HTTP. Shows its scheme and host only.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

/// Why an address can't be an endpoint. Does not repeat it.
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
    /// Parses an address; the only way to make an `Endpoint`.
    pub fn parse(text: &str) -> Result<Self, InvalidEndpoint> {
        let url = Url::parse(text.trim()).map_err(|_| InvalidEndpoint::NotUrl)?;
        match url.scheme() {
            // The parser sees to it that these two have a host.
            "http" | "https" => Ok(Self(url)),
            _ => Err(InvalidEndpoint::Scheme),
        }
    }

    pub(super) fn url(&self) -> Url {
        self.0.clone()
    }

    /// A client for this address. Blocks on the disk.
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
