//! Which addresses a script may reach: public ones, and the DNS servers of this machine.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket},
    os::fd::OwnedFd,
};

use lyceum_model::is_public_address;
use rustix::{
    io::Errno,
    net::{
        AddressFamily, SocketType, ipproto,
        sockopt::{socket_domain, socket_protocol, socket_type},
    },
};

/// Port of DNS.
const DNS_PORT: u16 = 53;

/// Parses and checks the address of a call on a TCP or UDP socket.
pub(super) fn permitted(socket: &OwnedFd, address: &[u8], resolvers: &[IpAddr]) -> Result<SocketAddr, Errno> {
    let family = socket_domain(socket)?;
    let kind = (socket_type(socket)?, socket_protocol(socket)?);
    let is_ip = family == AddressFamily::INET || family == AddressFamily::INET6;
    let supported = [(SocketType::STREAM, Some(ipproto::TCP)), (SocketType::DGRAM, Some(ipproto::UDP))];
    if !is_ip || !supported.contains(&kind) {
        return Err(Errno::ACCESS);
    }
    parse(address).filter(|address| permits(*address, resolvers)).ok_or(Errno::ACCESS)
}

/// Whether a script may reach an address.
fn permits(address: SocketAddr, resolvers: &[IpAddr]) -> bool {
    // `::ffff:127.0.0.1` is 127.0.0.1.
    let ip = address.ip().to_canonical();
    let is_dns_query = address.port() == DNS_PORT && resolvers.contains(&ip);
    is_dns_query || (is_public_address(ip) && !is_local_address(ip))
}

/// Whether an address is assigned to this machine: services on it may be intended for local use only.
fn is_local_address(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// Parses a `sockaddr_in` or `sockaddr_in6`.
fn parse(bytes: &[u8]) -> Option<SocketAddr> {
    let (family, rest) = bytes.split_first_chunk::<2>()?;
    let (port, rest) = rest.split_first_chunk::<2>()?;
    let (first, rest) = rest.split_first_chunk::<4>()?;
    let port = u16::from_be_bytes(*port);
    match AddressFamily::from_raw(u16::from_ne_bytes(*family)) {
        // The kernel requires all 16 bytes.
        AddressFamily::INET if rest.len() >= 8 => {
            Some(SocketAddrV4::new(Ipv4Addr::from(*first), port).into())
        }
        AddressFamily::INET6 => {
            let (ip, rest) = rest.split_first_chunk::<16>()?;
            let scope = rest.first_chunk::<4>().map_or(0, |scope| u32::from_ne_bytes(*scope));
            // Drops the flow label, which could select a route.
            Some(SocketAddrV6::new(Ipv6Addr::from(*ip), port, 0, scope).into())
        }
        _ => None,
    }
}

/// Parses the DNS servers in `/etc/resolv.conf`.
pub(super) fn resolvers(text: &str) -> Vec<IpAddr> {
    let servers = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let server = words.next().filter(|word| *word == "nameserver").and_then(|_| words.next())?;
        server.split('%').next()?.parse::<IpAddr>().ok()
    });
    servers.map(|server| server.to_canonical()).collect()
}

#[cfg(test)]
mod tests;
