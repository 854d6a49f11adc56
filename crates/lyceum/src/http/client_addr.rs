//! The address of the client, determined once per request: the peer of the connection, or the one that a trusted proxy
//! reports.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::atomic::{AtomicBool, Ordering},
};

use http::{HeaderMap, HeaderName};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whether the warning about an untrusted `X-Forwarded-For` was logged.
static WARNED: AtomicBool = AtomicBool::new(false);

/// The address of the client of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddr(IpAddr);

impl ClientAddr {
    /// The peer of a connection.
    pub(crate) fn of_peer(peer: IpAddr) -> Self {
        Self(peer.to_canonical())
    }

    /// The client of a request. `X-Forwarded-For` counts only if the peer is a trusted proxy. Then it is the
    /// right-most address that is not a trusted proxy itself, because clients can write anything to the left of it.
    pub(crate) fn of_request(peer: IpAddr, headers: &HeaderMap, proxies: &TrustedProxies) -> Self {
        let mut client = Self::of_peer(peer);
        if !proxies.contains(client.0) {
            client.warn_untrusted(headers);
            return client;
        }
        let sent = headers.get_all(FORWARDED_FOR).iter().rev();
        let named = sent.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
        for name in named {
            // An invalid address was not written by a trusted proxy.
            let Some(address) = parse(name.trim()) else { break };
            client = Self::of_peer(address);
            if !proxies.contains(client.0) {
                break;
            }
        }
        client
    }

    /// The key of rate limits: IPv6 clients are counted by /64, the usual size of one customer.
    pub(crate) fn network(self) -> IpAddr {
        match self.0 {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        }
    }

    /// Warns once that all clients of a proxy share one address, and how to fix it.
    fn warn_untrusted(self, headers: &HeaderMap) {
        if !WARNED.load(Ordering::Relaxed)
            && is_private(self.0)
            && headers.contains_key(FORWARDED_FOR)
            && !WARNED.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "X-Forwarded-For is ignored: it came from a private address that is not in server.trusted_proxies; \
                 name your reverse proxy there, or all of its clients share one rate limit"
            );
        }
    }
}

/// Parses `1.2.3.4`, `1.2.3.4:567`, `2001:db8::1` or `[2001:db8::1]:567`.
fn parse(text: &str) -> Option<IpAddr> {
    let unbracketed = || text.strip_prefix('[')?.split_once(']')?.0.parse().ok();
    let without_port = || text.rsplit_once(':')?.0.parse().ok().filter(IpAddr::is_ipv4);
    text.parse().ok().or_else(unbracketed).or_else(without_port)
}

/// Whether a peer is on loopback or in a private network, like most reverse proxies.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

/// The reverse proxies whose `X-Forwarded-For` is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<Cidr>);

impl TrustedProxies {
    /// Trusts those networks.
    pub fn new(networks: Vec<Cidr>) -> Self {
        Self(networks)
    }

    /// Whether no proxy is trusted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an address belongs to a trusted proxy.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// A network in CIDR notation, such as `10.0.0.0/8`; a bare address is a network of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    bits: u128,
    mask: u128,
    is_v4: bool,
}

impl Cidr {
    /// Parses a network. Host bits must be zero: otherwise the text is ambiguous.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let (bits, is_v4) = bits(address.parse().ok()?);
        let width: u32 = if is_v4 { 32 } else { 128 };
        let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = match prefix {
            Some(prefix) => Some(prefix).filter(is_number)?.parse().ok()?,
            None => width,
        };
        let host_bits = width.checked_sub(prefix)?;
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        (bits & !mask == 0).then_some(Self { bits, mask, is_v4 })
    }

    fn contains(&self, address: IpAddr) -> bool {
        let (bits, is_v4) = bits(address);
        is_v4 == self.is_v4 && bits & self.mask == self.bits
    }
}

/// An address as a number, and whether it is IPv4.
fn bits(address: IpAddr) -> (u128, bool) {
    match address.to_canonical() {
        IpAddr::V4(address) => (u128::from(u32::from(address)), true),
        IpAddr::V6(address) => (u128::from(address), false),
    }
}

impl fmt::Display for ClientAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
