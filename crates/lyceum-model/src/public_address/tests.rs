//! Public and special-purpose addresses.

use super::*;

#[track_caller]
fn check(address: &str, expected: bool) {
    assert_eq!(is_public_address(address.parse::<IpAddr>().unwrap()), expected, "{address}");
}

#[test]
fn only_addresses_of_the_public_internet_are_public() {
    for address in
        ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1"]
    {
        check(address, true);
    }
    for address in ["2606:4700:4700::1111", "2a00:1450:4001::1"] {
        check(address, true);
    }
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "168.63.129.16",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
    ] {
        check(address, false);
    }
    for address in [
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::7f00:1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:2::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "fc00::1",
        "fd00::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "5f00::1",
    ] {
        check(address, false);
    }
}
