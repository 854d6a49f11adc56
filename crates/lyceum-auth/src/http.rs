//! Asking other servers: one TLS stack, limits on time and size, and errors that hold no address.

use std::sync::Arc;

use reqwest::{Client, ClientBuilder, Response, Url};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// A client for that address, to be completed. A proxy is not used to reach this very machine.
pub(crate) fn builder(url: &Url) -> Option<ClientBuilder> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().ok()?;
    let tls = tls.with_platform_verifier().ok()?.with_no_client_auth();
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("lyceum/", env!("CARGO_PKG_VERSION")));
    Some(if is_local(url) { builder.no_proxy() } else { builder })
}

/// The body of an answer, if it is not too large.
pub(crate) async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() <= most => body.extend_from_slice(&chunk),
            Ok(Some(_)) => return Err(format!("the answer is larger than {most} bytes")),
            Ok(None) => return Ok(body),
            Err(error) => return Err(told(&error)),
        }
    }
}

/// What went wrong, without the address.
pub(crate) fn told(error: &reqwest::Error) -> String {
    let what = match error {
        error if error.is_timeout() => "it took too long",
        error if error.is_connect() => "no connection",
        error if error.is_body() || error.is_decode() => "the answer ended early",
        _ => "the request failed",
    };
    what.to_owned()
}

fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}
