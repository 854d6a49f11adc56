//! The HTTP client: rustls with the system's trusted root certificates, the proxy from the environment, our user
//! agent.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, ClientBuilder, Url, redirect::Policy};
use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier,
    crypto::ring,
    pki_types::{
        CertificateDer,
        pem::{self, PemObject},
    },
};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::is_loopback_url;

/// Options of a client. The default follows no redirects and sets no timeouts.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientOptions {
    /// Redirect policy.
    pub redirects: Redirects,
    /// Timeout for connecting.
    pub connect_timeout: Option<Duration>,
    /// Maximum time between two reads of a response.
    pub read_timeout: Option<Duration>,
    /// Timeout for a whole request, from connecting to the last byte of the response.
    pub timeout: Option<Duration>,
    /// How long an idle connection stays in the pool.
    pub idle_timeout: Option<Duration>,
    /// Whether to use HTTP/1.1 even if the server offers HTTP/2.
    pub http1_only: bool,
}

/// Redirect policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// Doesn't follow redirects: the response is the redirect itself.
    #[default]
    Refuse,
    /// Follows at most this many redirects, and never from https to plain http.
    Follow(usize),
}

/// Why a client could not be built.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The system's root certificates can't be read.
    #[error("can't read the system's root certificates; install them (often the package ca-certificates)")]
    Trust(#[from] rustls::Error),
    /// reqwest could not build the client.
    #[error("could not build the HTTP client")]
    Setup(#[from] reqwest::Error),
}

/// Builds a client for the server of `url`. Reads the system's root certificates, so it blocks on disk I/O.
///
/// Uses the proxy from the environment, except for loopback URLs.
pub fn client(url: &Url, options: ClientOptions) -> Result<Client, ClientError> {
    Ok(builder(url, options)?.build()?)
}

/// Like [`client`], for callers in this crate that set further options.
pub(crate) fn builder(url: &Url, options: ClientOptions) -> Result<ClientBuilder, ClientError> {
    let is_https = url.scheme() == "https";
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls(is_https)?)
        .user_agent(concat!("lyceum/", env!("CARGO_PKG_VERSION")));
    builder = match options.redirects {
        Redirects::Refuse => builder.redirect(Policy::none()),
        Redirects::Follow(max) => builder.redirect(Policy::limited(max)).https_only(is_https),
    };
    if let Some(limit) = options.connect_timeout {
        builder = builder.connect_timeout(limit);
    }
    if let Some(limit) = options.read_timeout {
        builder = builder.read_timeout(limit);
    }
    if let Some(limit) = options.timeout {
        builder = builder.timeout(limit);
    }
    if let Some(limit) = options.idle_timeout {
        builder = builder.pool_idle_timeout(limit);
    }
    if options.http1_only {
        builder = builder.http1_only();
    }
    Ok(if is_loopback_url(url) { builder.no_proxy() } else { builder })
}

/// TLS configuration for connections other than HTTP: verifies servers by these root certificates in PEM, or else by the
/// system's.
pub fn tls_config(roots: Option<&[u8]>) -> Result<ClientConfig, ClientError> {
    let Some(pem) = roots else { return Ok(tls(true)?) };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let invalid = |error: pem::Error| ClientError::Trust(rustls::Error::General(error.to_string()));
        store.add(certificate.map_err(invalid)?)?;
    }
    Ok(tls_builder()?.with_root_certificates(store).with_no_client_auth())
}

/// TLS configuration. Plain http needs no root certificates, so none are read from disk.
fn tls(is_https: bool) -> Result<ClientConfig, rustls::Error> {
    Ok(if is_https {
        tls_builder()?.with_platform_verifier()?.with_no_client_auth()
    } else {
        tls_builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    })
}

fn tls_builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
}

#[cfg(test)]
pub(crate) mod tests;
