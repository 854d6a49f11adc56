//! Which `X-Forwarded-For` headers are trusted, and which address in them counts.

use http::HeaderValue;

use super::*;

fn proxies(networks: &[&str]) -> TrustedProxies {
    TrustedProxies::new(networks.iter().map(|text| Cidr::parse(text).unwrap()).collect())
}

#[track_caller]
fn check(peer: &str, forwarded: &[&'static str], trusted: &[&str], client: &str) {
    let mut headers = HeaderMap::new();
    for value in forwarded {
        headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
    }
    let found = ClientAddr::of_request(peer.parse().unwrap(), &headers, &proxies(trusted));
    assert_eq!(found.to_string(), client, "{peer} {forwarded:?} {trusted:?}");
}

#[test]
fn nobody_is_believed_unless_the_operator_says_so() {
    check("127.0.0.1", &["1.2.3.4"], &[], "127.0.0.1");
    check("10.0.0.7", &["1.2.3.4"], &["127.0.0.1"], "10.0.0.7");
    check("8.8.8.8", &["1.2.3.4"], &["10.0.0.0/8"], "8.8.8.8");
}

#[test]
fn of_a_trusted_proxy_the_right_most_address_counts_that_is_no_proxy() {
    check("127.0.0.1", &["1.2.3.4"], &["127.0.0.1"], "1.2.3.4");
    check("127.0.0.1", &["6.6.6.6, 1.2.3.4"], &["127.0.0.1"], "1.2.3.4");
    check("127.0.0.1", &["6.6.6.6", "1.2.3.4, 10.1.1.1"], &["127.0.0.1", "10.0.0.0/8"], "1.2.3.4");
    check("::ffff:10.0.0.1", &["1.2.3.4"], &["10.0.0.0/8"], "1.2.3.4");
    check("fd00::1", &["[2001:db8::5]:443"], &["fd00::/8"], "2001:db8::5");
    check("10.0.0.1", &["1.2.3.4:5678"], &["10.0.0.0/8"], "1.2.3.4");
}

#[test]
fn what_a_proxy_did_not_write_ends_the_search() {
    check("127.0.0.1", &["1.2.3.4, unknown"], &["127.0.0.1"], "127.0.0.1");
    check("127.0.0.1", &[""], &["127.0.0.1"], "127.0.0.1");
    check("127.0.0.1", &["1.2.3.4, unknown, 10.0.0.1"], &["127.0.0.1", "10.0.0.0/8"], "10.0.0.1");
    check("127.0.0.1", &["10.0.0.1, 10.0.0.2"], &["127.0.0.1", "10.0.0.0/8"], "10.0.0.1");
}

#[test]
fn a_network_is_written_in_cidr_notation() {
    let good = ["10.0.0.0/8", "127.0.0.1", "::1", "fd00::/8", "0.0.0.0/0", "::/0", "192.168.1.1/32"];
    let bad =
        ["", "localhost", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/8/8", "::/129"];
    for text in good {
        assert!(Cidr::parse(text).is_some(), "{text}");
    }
    for text in bad {
        assert!(Cidr::parse(text).is_none(), "{text}");
    }
    let (all, one) = (Cidr::parse("0.0.0.0/0").unwrap(), Cidr::parse("192.168.1.1").unwrap());
    assert!(all.contains("8.8.8.8".parse().unwrap()) && !all.contains("::1".parse().unwrap()));
    assert!(one.contains("192.168.1.1".parse().unwrap()) && !one.contains("192.168.1.2".parse().unwrap()));
}
