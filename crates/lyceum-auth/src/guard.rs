//! Fetching from an address that somebody else chose, without being led to a machine that only we can reach.
//!
//! The name is looked up once; every address that it has must be one of the public Internet, and the connection goes to
//! exactly those. Redirects are not followed and no proxy is used, for both would look the name up again.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use lyceum_model::is_public_address;
use reqwest::{Response, StatusCode, Url, header::ACCEPT, redirect::Policy};

use crate::http;

/// How long a name may take to be looked up.
const LOOK_UP: Duration = Duration::from_secs(5);

/// Where names of hosts lead, and which of them may lead to this network.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Hosts, with their port, that the operator trusts wherever they are.
    pub trusted: Vec<String>,
}

/// How something is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ask<'a> {
    /// By its address alone.
    Get,
    /// With a body.
    Post(&'a serde_json::Value),
}

/// Why nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfetched {
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
    /// Asks for what is at that address; the answer may take so long.
    pub(crate) async fn ask(
        &self,
        url: &Url,
        ask: Ask<'_>,
        accept: &str,
        time: Duration,
    ) -> Result<Response, Unfetched> {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(Unfetched::NotPublic);
        };
        let is_trusted = self.trusted.iter().any(|trusted| *trusted == format!("{host}:{port}"));
        if url.scheme() != "https" && !is_trusted {
            return Err(Unfetched::NotPublic);
        }
        let found = tokio::time::timeout(LOOK_UP, look_up(host, port)).await;
        let found =
            found.map_err(|_| Unfetched::Failed("its name took too long to look up".to_owned()))??;
        if found.is_empty() || !(is_trusted || found.iter().all(|address| is_public_address(address.ip()))) {
            return Err(Unfetched::NotPublic);
        }
        let client = http::builder(url)
            .and_then(|builder| {
                let builder = builder.redirect(Policy::none()).no_proxy().timeout(time);
                builder.resolve_to_addrs(host, &found).build().ok()
            })
            .ok_or_else(|| Unfetched::Failed("the HTTP client could not be set up".to_owned()))?;
        let request = match ask {
            Ask::Get => client.get(url.clone()),
            Ask::Post(body) => client.post(url.clone()).json(body),
        };
        let response = request.header(ACCEPT, accept).send().await;
        let response = response.map_err(|error| Unfetched::Failed(http::told(&error)))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Err(Unfetched::Failed(format!("it answered with status {}", status.as_u16())))
            }
            status => Err(Unfetched::NotThere(status.as_u16())),
        }
    }
}

async fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, Unfetched> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let found = tokio::net::lookup_host((host, port)).await;
    Ok(found.map_err(|_| Unfetched::Failed("its name leads nowhere".to_owned()))?.collect())
}

#[cfg(test)]
mod tests;
