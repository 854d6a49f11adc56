//! The server that a token is for.

use std::fmt;

/// An origin: scheme, host and port, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    scheme: String,
    /// Including the port, if any.
    host: String,
}

impl Origin {
    /// Parses the origin of a URL, ignoring user info and path.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let server = rest.split('/').next().unwrap_or_default();
        let host = server.rsplit_once('@').map_or(server, |(_, host)| host);
        let named = !scheme.is_empty() && !host.is_empty() && !host.contains(char::is_whitespace);
        named.then(|| Self { scheme: scheme.to_ascii_lowercase(), host: host.to_ascii_lowercase() })
    }

    /// Whether requests to it can be intercepted: plain http, and not loopback.
    pub(crate) fn is_unencrypted(&self) -> bool {
        let host = self.host.rsplit_once(':').map_or(self.host.as_str(), |(host, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) { host } else { self.host.as_str() }
        });
        self.scheme == "http" && !lyceum_net::is_loopback_host(host)
    }

    /// Whether a token for this origin may be sent to another: the same host, with the same scheme or https.
    pub(crate) fn may_share_token_with(&self, requester: &Self) -> bool {
        self.host == requester.host && (self.scheme == requester.scheme || requester.scheme == "https")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)
    }
}
