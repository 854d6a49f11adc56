//! The HTTP client: rustls with the roots that this system trusts, the proxy of the environment, our user agent.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, ClientBuilder, Url, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::is_loopback_url;

/// What a caller chooses. The default follows no redirect and sets no time-out of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientOptions {
    /// Whether redirects are followed.
    pub redirects: Redirects,
    /// The limit for connecting.
    pub connect_timeout: Option<Duration>,
    /// The limit from one byte of an answer to the next.
    pub read_timeout: Option<Duration>,
    /// The limit for a whole request, from connecting to the last byte of the answer.
    pub timeout: Option<Duration>,
    /// How long an idle connection is kept for the next request.
    pub idle_timeout: Option<Duration>,
    /// Whether HTTP/1.1 is spoken even to servers that offer HTTP/2.
    pub http1_only: bool,
}

/// Whether redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// They are not: the answer is the redirect itself.
    #[default]
    Refuse,
    /// So many in a row, and never from https to plain http.
    Follow(usize),
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The roots of this system can't be read.
    #[error(
        "the certificates that this system trusts could not be read; install them (often: ca-certificates)"
    )]
    Trust(#[from] rustls::Error),
    /// The client itself can't be built.
    #[error("the HTTP client could not be set up")]
    Setup(#[from] reqwest::Error),
}

/// Builds a client for the server of this URL. Reads the roots that this system trusts, so it blocks on the disk.
///
/// A proxy that the environment names is used, as by any HTTP client, but not to reach this very machine.
pub fn client(url: &Url, options: ClientOptions) -> Result<Client, ClientError> {
    Ok(builder(url, options)?.build()?)
}

/// The same, for callers in this crate that complete it.
pub(crate) fn builder(url: &Url, options: ClientOptions) -> Result<ClientBuilder, ClientError> {
    let is_https = url.scheme() == "https";
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls(is_https)?)
        .user_agent(concat!("lyceum/", env!("CARGO_PKG_VERSION")));
    builder = match options.redirects {
        Redirects::Refuse => builder.redirect(Policy::none()),
        Redirects::Follow(most) => builder.redirect(Policy::limited(most)).https_only(is_https),
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

/// Plain http needs no roots, and does not wait for the disk.
fn tls(is_https: bool) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    Ok(if is_https {
        builder.with_platform_verifier()?.with_no_client_auth()
    } else {
        builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    })
}

#[cfg(test)]
pub(crate) mod tests;
