//! The `Origin` of web pages. It is checked only if it is sent: programs send none.

use http::Uri;
use lyceum_net::is_loopback_host;

/// An origin: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// Parses `https://app.example.org` or `http://localhost:3000`; anything else is not an origin.
    pub fn parse(text: &str) -> Option<Self> {
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let default = match scheme.as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let (authority, host) = (uri.authority()?.as_str(), uri.host()?);
        let is_bare = text.strip_prefix(&scheme)?.strip_prefix("://")? == authority;
        // No userinfo and no wildcard: browsers never send such an origin.
        let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte));
        let port = match authority.strip_prefix(host)? {
            "" => default,
            port => port.strip_prefix(':')?.parse().ok()?,
        };
        (is_bare && is_name).then(|| Self { scheme, host: host.to_ascii_lowercase(), port })
    }

    /// Whether the host is on loopback.
    pub fn is_loopback(&self) -> bool {
        is_loopback_host(&self.host)
    }
}
