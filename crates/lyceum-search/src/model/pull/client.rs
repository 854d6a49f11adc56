//! The HTTP client that files are got with.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Url, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

use super::PullError;

/// How far a hub may send us on: to its own store of files and from there to one nearby.
const REDIRECTS: usize = 6;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Until there is a connection.
    pub(super) connect: Duration,
    /// Without a byte.
    pub(super) stall: Duration,
    /// Before the second attempt; then twice as long.
    pub(super) pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            pause: Duration::from_secs(1),
        }
    }
}

/// A client for this address. Reads the certificates that this system trusts, so it waits for the disk.
///
/// A proxy that the environment names is used, as by any client of HTTP, but not to reach this very machine.
pub(super) fn client(hub: &Url, patience: Patience) -> Result<Client, PullError> {
    let unreachable = |fault: &dyn std::fmt::Display| PullError::Unreachable(fault.to_string());
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|fault| unreachable(&fault))?;
    let secure = hub.scheme() == "https";
    let tls = if secure {
        builder.with_platform_verifier().map_err(|fault| unreachable(&fault))?.with_no_client_auth()
    } else {
        builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    };
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .https_only(secure)
        .redirect(Policy::limited(REDIRECTS))
        .connect_timeout(patience.connect)
        .read_timeout(patience.stall)
        .user_agent(concat!("lyceum/", env!("CARGO_PKG_VERSION")));
    let client = if is_local(hub) { client.no_proxy() } else { client };
    client.build().map_err(|fault| unreachable(&fault))
}

fn is_local(hub: &Url) -> bool {
    match hub.host_str().unwrap_or_default() {
        "localhost" | "[::1]" => true,
        host => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
    }
}
