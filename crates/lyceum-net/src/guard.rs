//! The SSRF guard: fetches URLs chosen by others without reaching internal hosts.
//!
//! The host name is resolved once; all of its addresses must be public, and the connection goes to exactly those.
//! Redirects and proxies are disabled, because both would resolve the name again.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use lyceum_model::is_public_address;
use reqwest::{Response, StatusCode, Url, header::ACCEPT};

use crate::{ClientOptions, category, client::builder};

/// Timeout of the DNS lookup.
const DNS_TIMEOUT: Duration = Duration::from_secs(5);

/// An SSRF guard: which hosts may be fetched from.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Hosts, as `host:port`, that the operator trusts even at a private address or over plain http.
    pub trusted: Vec<String>,
}

/// Method of a request, with its body.
#[derive(Debug, Clone, Copy)]
pub enum Fetch<'a> {
    /// A `GET` request.
    Get,
    /// A `POST` request with a JSON body.
    Post(&'a serde_json::Value),
}

/// Why a fetch failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The URL is not https, or its host has no public address.
    #[error("it must be an https URL of a host on the public Internet")]
    NotPublic,
    /// A network error, or a status that may be temporary (5xx, 429).
    #[error("it can't be fetched: {0}")]
    Failed(String),
    /// Any other status that is not a success, such as 404.
    #[error("it can't be fetched: HTTP status {0}")]
    Rejected(u16),
}

impl Guard {
    /// Fetches `url`, with `timeout` for the whole request.
    pub async fn fetch(
        &self,
        url: &Url,
        fetch: Fetch<'_>,
        accept: &str,
        timeout: Duration,
    ) -> Result<Response, FetchError> {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(FetchError::NotPublic);
        };
        let is_trusted = self.trusted.iter().any(|trusted| *trusted == format!("{host}:{port}"));
        if url.scheme() != "https" && !is_trusted {
            return Err(FetchError::NotPublic);
        }
        let addresses = tokio::time::timeout(DNS_TIMEOUT, resolve_host(host, port)).await;
        let addresses =
            addresses.map_err(|_| FetchError::Failed("the DNS lookup timed out".to_owned()))??;
        if addresses.is_empty()
            || !(is_trusted || addresses.iter().all(|address| is_public_address(address.ip())))
        {
            return Err(FetchError::NotPublic);
        }
        let options = ClientOptions { timeout: Some(timeout), ..ClientOptions::default() };
        let client = builder(url, options)
            .and_then(|builder| Ok(builder.no_proxy().resolve_to_addrs(host, &addresses).build()?))
            .map_err(|error| FetchError::Failed(error.to_string()))?;
        let request = match fetch {
            Fetch::Get => client.get(url.clone()),
            Fetch::Post(body) => client.post(url.clone()).json(body),
        };
        let response = request.header(ACCEPT, accept).send().await;
        let response = response.map_err(|error| FetchError::Failed(category(&error).to_owned()))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Err(FetchError::Failed(format!("HTTP status {}", status.as_u16())))
            }
            status => Err(FetchError::Rejected(status.as_u16())),
        }
    }
}

async fn resolve_host(host: &str, port: u16) -> Result<Vec<SocketAddr>, FetchError> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let addresses = tokio::net::lookup_host((host, port)).await;
    Ok(addresses.map_err(|_| FetchError::Failed("the DNS lookup failed".to_owned()))?.collect())
}

#[cfg(test)]
mod tests;
