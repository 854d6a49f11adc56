//! Which addresses a script may reach.

use std::net::{IpAddr, SocketAddr};

use super::{parse, permits, resolvers};

const RESOLV_CONF: &str = "# made by hand\nsearch example.org\nnameserver 10.0.0.53\nnameserver  fe80::1%eth0\n\
    nameserver ::ffff:10.0.0.54\nnameserver nonsense\n; nameserver 10.0.0.55\noptions edns0\n";

#[test]
fn name_servers_are_read_as_the_c_library_reads_them() {
    let expected = ["10.0.0.53", "fe80::1", "10.0.0.54"].map(|server| server.parse::<IpAddr>().unwrap());
    assert_eq!(resolvers(RESOLV_CONF), expected);
    assert!(resolvers("").is_empty());
}

#[track_caller]
fn check(address: &str, permitted: bool) {
    let address: SocketAddr = address.parse().unwrap();
    assert_eq!(permits(address, &resolvers(RESOLV_CONF)), permitted, "{address}");
}

#[test]
fn a_script_reaches_public_addresses_and_name_servers_only() {
    for address in ["1.1.1.1:443", "[2606:4700:4700::1111]:443", "[::ffff:1.1.1.1]:80", "10.0.0.53:53"] {
        check(address, true);
    }
    for address in [
        "10.0.0.53:80",
        "10.0.0.52:53",
        "127.0.0.1:53",
        "0.0.0.0:80",
        "169.254.169.254:80",
        "168.63.129.16:80",
        "100.100.100.200:80",
        "192.168.1.1:80",
        "224.0.0.251:5353",
        "[::1]:80",
        "[::]:80",
        "[::ffff:127.0.0.1]:80",
        "[::ffff:10.0.0.1]:80",
        "[::127.0.0.1]:80",
        "[64:ff9b::7f00:1]:80",
        "[2002:7f00:1::]:80",
        "[fd00:ec2::254]:80",
        "[fe80::1]:80",
        "[ff02::1]:80",
    ] {
        check(address, false);
    }
}

#[test]
fn an_address_is_read_as_the_kernel_reads_it() {
    let family = |family: i32| u16::try_from(family).unwrap().to_ne_bytes();
    let four = [&family(libc::AF_INET)[..], &[1, 187, 1, 2, 3, 4], &[0; 8]].concat();
    assert_eq!(parse(&four), Some("1.2.3.4:443".parse().unwrap()));
    assert_eq!(parse(&four[..15]), None);
    let mut six = [&family(libc::AF_INET6)[..], &[0, 80, 0, 0, 0, 0], &[0; 15], &[1], &[0; 4]].concat();
    assert_eq!(parse(&six), Some("[::1]:80".parse().unwrap()));
    assert_eq!(parse(&six[..24]), Some("[::1]:80".parse().unwrap()));
    assert_eq!(parse(&six[..23]), None);
    six[..2].copy_from_slice(&family(libc::AF_UNIX));
    assert_eq!(parse(&six), None);
    assert_eq!(parse(&family(libc::AF_UNSPEC)), None);
    assert_eq!(parse(&[]), None);
}
