//! The names that the server may be called by.
//!
//! A page on the web can make a browser call `http://its.own.name/` and point that name at this machine (DNS
//! rebinding). So a name that is not ours is refused. A numeric address can't be rebound, and is taken where the
//! server is meant to be reached from elsewhere.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
};

/// Which hosts a request may name.
#[derive(Debug, Clone)]
pub struct HostRule {
    names: BTreeSet<String>,
    any_address: bool,
}

impl HostRule {
    /// The rule for a listener: loopback names on loopback, numeric addresses elsewhere, and the names given.
    pub fn new(listen: SocketAddr, names: impl IntoIterator<Item = String>) -> Self {
        let mut names: BTreeSet<String> = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        names.insert(match listen.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
        Self { names, any_address: !listen.ip().is_loopback() }
    }

    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Whether a `Host` header, with or without a port, is one of ours.
    pub fn allows(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        let name = name.to_ascii_lowercase();
        let is_address = || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        self.names.contains(&name) || (self.any_address && is_address())
    }
}

/// `example.org:80` → `example.org`, `[::1]:80` → `[::1]`; nothing where the port is not a number.
fn without_port(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, rest) = host.split_at_checked(end)?;
    let port_is_good =
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (port_is_good && !name.is_empty()).then_some(name)
}
