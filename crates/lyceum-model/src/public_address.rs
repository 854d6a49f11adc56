//! Which IP addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an IP address is globally routable. An allowlist: loopback, private, shared and link-local networks,
/// multicast, cloud metadata services, and all IPv6 addresses that embed an IPv4 address are not public.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Azure's WireServer: the one cloud metadata service at a public address.
const WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || matches!((a, b), (0 | 240.., _) | (100, 64..=127) | (198, 18 | 19))
        || matches!((a, b, c), (192, 0, 0) | (192, 88, 99))
        || address.is_multicast()
        || address == WIRE_SERVER;
    !is_special
}

/// Only global unicast (2000::/3), except ranges that embed IPv4 addresses, are reserved or are for documentation.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_global_unicast = first & 0xe000 == 0x2000;
    let is_special = matches!((first, second), (0x2001, 0..=0x01ff | 0x0db8) | (0x2002 | 0x3fff, _));
    is_global_unicast && !is_special
}

#[cfg(test)]
mod tests;
