//! Where events are sent. The address may hold a secret, so it is never shown beyond its scheme and host.

use std::{fmt, sync::Arc, time::Duration};

use reqwest::{Client, Url, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// How long a connection may be idle: shorter than what most receivers keep one open for.
const IDLE: Duration = Duration::from_secs(4);

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

/// Why no request can be made at all.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoClient {
    #[error(
        "the certificates that this system trusts could not be read; install them (often: ca-certificates)"
    )]
    Trust(#[from] rustls::Error),
    #[error("the HTTP client could not be set up")]
    Http(#[from] reqwest::Error),
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

    /// A client for this address. Reads the certificates that this system trusts, so it waits for the disk.
    ///
    /// A proxy that the environment names is used, as by any client of HTTP, but not to reach this very machine.
    pub(super) fn client(&self, timeout: Duration) -> Result<Client, NoClient> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?;
        let tls = if self.0.scheme() == "https" {
            builder.with_platform_verifier()?.with_no_client_auth()
        } else {
            builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
        };
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(Policy::none())
            .timeout(timeout)
            .pool_idle_timeout(IDLE)
            .user_agent(concat!("lyceum/", env!("CARGO_PKG_VERSION")));
        let client = if self.is_local() { client.no_proxy() } else { client };
        Ok(client.build()?)
    }

    fn is_local(&self) -> bool {
        match self.0.host_str().unwrap_or_default() {
            "localhost" | "[::1]" => true,
            host => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
        }
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
