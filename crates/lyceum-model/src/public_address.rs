//! Which addresses are of the public Internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public Internet. What is not known to be is not: loopback, private, shared and
/// link-local networks, multicast, metadata services of clouds, and every IPv6 address that stands for one of IPv4.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The one metadata service that has a public address: Azure's.
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

/// Only what is given out (2000::/3), and of that nothing that stands for an IPv4 address or for examples.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_given_out = first & 0xe000 == 0x2000;
    let is_special = matches!((first, second), (0x2001, 0..=0x01ff | 0x0db8) | (0x2002 | 0x3fff, _));
    is_given_out && !is_special
}

#[cfg(test)]
mod tests;
