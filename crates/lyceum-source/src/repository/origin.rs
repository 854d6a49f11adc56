//! The server that a token is for.

use std::fmt;

/// A server: the protocol, the name and the port, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    scheme: String,
    /// With the port, where one was written.
    host: String,
}

impl Origin {
    /// Takes the server out of a URL; its user and its path don't matter.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let server = rest.split('/').next().unwrap_or_default();
        let host = server.rsplit_once('@').map_or(server, |(_, host)| host);
        let named = !scheme.is_empty() && !host.is_empty() && !host.contains(char::is_whitespace);
        named.then(|| Self { scheme: scheme.to_ascii_lowercase(), host: host.to_ascii_lowercase() })
    }

    /// Whether what is sent to this server can be read on the way: plain http, and not to this machine.
    pub(crate) fn is_open(&self) -> bool {
        let host = self.host.rsplit_once(':').map_or(self.host.as_str(), |(host, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) { host } else { self.host.as_str() }
        });
        self.scheme == "http" && !lyceum_net::is_loopback_host(host)
    }

    /// Whether a token for this server may be told to the one that asks: the same, or the same over https.
    pub(crate) fn may_be_told_to(&self, asking: &Self) -> bool {
        self.host == asking.host && (self.scheme == asking.scheme || asking.scheme == "https")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)
    }
}
