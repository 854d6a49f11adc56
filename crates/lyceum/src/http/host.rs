//! Which `Host` headers are allowed.
//!
//! A web page can make a browser call `http://its.own.name/` and resolve that name to this machine (DNS rebinding). So
//! an unknown name is rejected. A numeric address can't be rebound; it is accepted unless the server listens on
//! loopback only.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
};

/// The allowed hosts.
#[derive(Debug, Clone)]
pub struct HostRule {
    names: BTreeSet<String>,
    any_address: bool,
}

impl HostRule {
    /// The rule for a listener: loopback names, its own address, the given names, and, unless on loopback, any numeric
    /// address.
    pub fn new(listen: SocketAddr, names: impl IntoIterator<Item = String>) -> Self {
        let mut names: BTreeSet<String> = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        names.insert(match listen.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
        Self { names, any_address: !listen.ip().is_loopback() }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Whether a `Host` header, with or without port, is allowed.
    pub fn allows(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        let name = name.to_ascii_lowercase();
        let is_address = || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        self.names.contains(&name) || (self.any_address && is_address())
    }
}

/// `example.org:80` → `example.org`, `[::1]:80` → `[::1]`; `None` if the port is not a number.
fn without_port(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, rest) = host.split_at_checked(end)?;
    let port_is_good =
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (port_is_good && !name.is_empty()).then_some(name)
}
