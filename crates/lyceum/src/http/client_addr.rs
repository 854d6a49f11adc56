//! The address of the client, determined once at the edge: the peer of the connection, or whom a trusted proxy names.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::atomic::{AtomicBool, Ordering},
};

use http::{HeaderMap, HeaderName};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whether it was said that `X-Forwarded-For` came from a peer that is not trusted.
static WARNED: AtomicBool = AtomicBool::new(false);

/// The address that a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddr(IpAddr);

impl ClientAddr {
    /// The peer of a connection.
    pub(crate) fn of_peer(peer: IpAddr) -> Self {
        Self(peer.to_canonical())
    }

    /// Whom a request is from. `X-Forwarded-For` counts only where the peer is a trusted proxy: then it is the right-most
    /// address that is no trusted proxy itself, for whatever stands left of that is the client's own word.
    pub(crate) fn of_request(peer: IpAddr, headers: &HeaderMap, proxies: &TrustedProxies) -> Self {
        let mut client = Self::of_peer(peer);
        if !proxies.contains(client.0) {
            client.note_untrusted(headers);
            return client;
        }
        let sent = headers.get_all(FORWARDED_FOR).iter().rev();
        let named = sent.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
        for name in named {
            // What is not an address was not written by a proxy of ours.
            let Some(address) = parse(name.trim()) else { break };
            client = Self::of_peer(address);
            if !proxies.contains(client.0) {
                break;
            }
        }
        client
    }

    /// What stands for the client in a limit: in IPv6 a whole /64 is one customer's.
    pub(crate) fn network(self) -> IpAddr {
        match self.0 {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        }
    }

    /// Says once that all clients of a proxy share one address, and what to write so that they don't.
    fn note_untrusted(self, headers: &HeaderMap) {
        if !WARNED.load(Ordering::Relaxed)
            && is_near(self.0)
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

/// `1.2.3.4`, `1.2.3.4:567`, `2001:db8::1` or `[2001:db8::1]:567`, as proxies write them.
fn parse(text: &str) -> Option<IpAddr> {
    let unbracketed = || text.strip_prefix('[')?.split_once(']')?.0.parse().ok();
    let without_port = || text.rsplit_once(':')?.0.parse().ok().filter(IpAddr::is_ipv4);
    text.parse().ok().or_else(unbracketed).or_else(without_port)
}

/// Whether a peer is on this machine or in a private network, as reverse proxies are.
fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

/// The reverse proxies whose `X-Forwarded-For` is believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<Cidr>);

impl TrustedProxies {
    /// Those networks.
    pub fn new(networks: Vec<Cidr>) -> Self {
        Self(networks)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an address is one of a trusted proxy.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// A network in CIDR notation, such as `10.0.0.0/8`; an address alone is the network of that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    bits: u128,
    mask: u128,
    is_v4: bool,
}

impl Cidr {
    /// Parses a network; bits after the prefix must not be set, for such a text means something else than it says.
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

/// An address as a number, and whether it is one of IPv4.
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
