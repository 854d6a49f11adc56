//! The SSRF guard: fetching from a URL that somebody else chose, without being led to a machine that only we can reach.
//!
//! The name is looked up once; every address that it has must be one of the public Internet, and the connection goes to
//! exactly those. Redirects are not followed and no proxy is used, for both would look the name up again.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use lyceum_model::is_public_address;
use reqwest::{Response, StatusCode, Url, header::ACCEPT};

use crate::{ClientOptions, category, client::builder};

/// How long a name may take to be looked up.
const DNS_TIMEOUT: Duration = Duration::from_secs(5);

/// Where names of hosts lead, and which of them may lead to this network.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Hosts, with their port, that the operator trusts wherever they are.
    pub trusted: Vec<String>,
}

/// How something is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Fetch<'a> {
    /// By its URL alone.
    Get,
    /// With a body.
    Post(&'a serde_json::Value),
}

/// Why nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// It is not an address that is asked.
    #[error("it must be an https address on the public Internet")]
    NotPublic,
    /// There is no answer, or none at this moment.
    #[error("it can't be fetched: {0}")]
    Failed(String),
    /// It is not there.
    #[error("it can't be fetched: it answered with status {0}")]
    NotThere(u16),
}

impl Guard {
    /// Fetches what is at that URL; the answer may take so long.
    pub async fn fetch(
        &self,
        url: &Url,
        fetch: Fetch<'_>,
        accept: &str,
        time: Duration,
    ) -> Result<Response, FetchError> {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(FetchError::NotPublic);
        };
        let is_trusted = self.trusted.iter().any(|trusted| *trusted == format!("{host}:{port}"));
        if url.scheme() != "https" && !is_trusted {
            return Err(FetchError::NotPublic);
        }
        let found = tokio::time::timeout(DNS_TIMEOUT, resolve_host(host, port)).await;
        let found =
            found.map_err(|_| FetchError::Failed("its name took too long to look up".to_owned()))??;
        if found.is_empty() || !(is_trusted || found.iter().all(|address| is_public_address(address.ip()))) {
            return Err(FetchError::NotPublic);
        }
        let options = ClientOptions { timeout: Some(time), ..ClientOptions::default() };
        let client = builder(url, options)
            .and_then(|builder| Ok(builder.no_proxy().resolve_to_addrs(host, &found).build()?))
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
                Err(FetchError::Failed(format!("it answered with status {}", status.as_u16())))
            }
            status => Err(FetchError::NotThere(status.as_u16())),
        }
    }
}

async fn resolve_host(host: &str, port: u16) -> Result<Vec<SocketAddr>, FetchError> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let found = tokio::net::lookup_host((host, port)).await;
    Ok(found.map_err(|_| FetchError::Failed("its name leads nowhere".to_owned()))?.collect())
}

#[cfg(test)]
mod tests;
