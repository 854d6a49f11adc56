//! Which `Host` and `Origin` headers are allowed.

use super::{HostRule, Origin};

const LOOPBACK: &str = "127.0.0.1:8787";
const EVERYWHERE: &str = "0.0.0.0:8787";

/// Checks a `Host` against a server that listens there and is also named `mcp.example.org`.
#[track_caller]
fn check_host(listen: &str, host: &str, allowed: bool) {
    let rule = HostRule::new(listen.parse().unwrap(), ["MCP.example.org".to_owned()]);
    assert_eq!(rule.allows(host), allowed, "{host:?} on {listen}");
}

#[test]
fn a_server_on_loopback_is_called_by_loopback_names() {
    for host in
        ["localhost", "localhost:8787", "LocalHost:1", "127.0.0.1", "127.0.0.1:8787", "[::1]", "[::1]:80"]
    {
        check_host(LOOPBACK, host, true);
        check_host("[::1]:8787", host, true);
        check_host(EVERYWHERE, host, true);
    }
}

#[test]
fn a_server_is_called_by_the_address_it_listens_on() {
    check_host("127.0.0.2:80", "127.0.0.2", true);
    check_host("127.0.0.2:80", "127.0.0.3", false);
    check_host("192.0.2.7:80", "192.0.2.7:80", true);
    check_host("[2001:db8::7]:80", "[2001:db8::7]:80", true);
}

#[test]
fn a_server_is_called_by_the_names_it_was_given() {
    for listen in [LOOPBACK, EVERYWHERE] {
        check_host(listen, "mcp.example.org", true);
        check_host(listen, "mcp.EXAMPLE.org:443", true);
        check_host(listen, "example.org", false);
        check_host(listen, "evil.mcp.example.org", false);
        check_host(listen, "mcp.example.org.evil.example", false);
    }
}

#[test]
fn a_foreign_name_is_refused_wherever_the_server_listens() {
    for listen in [LOOPBACK, EVERYWHERE] {
        check_host(listen, "evil.example", false);
        check_host(listen, "evil.example:8787", false);
        check_host(listen, "localhost.evil.example", false);
        check_host(listen, "127.0.0.1.evil.example", false);
    }
}

#[test]
fn a_numeric_address_is_taken_only_where_others_are_meant_to_come() {
    for host in ["192.0.2.7", "192.0.2.7:8787", "[2001:db8::7]", "[2001:db8::7]:8787"] {
        check_host(EVERYWHERE, host, true);
        check_host(LOOPBACK, host, false);
    }
    check_host(EVERYWHERE, "2130706433", false);
    check_host(EVERYWHERE, "0x7f.1", false);
}

#[test]
fn a_host_that_is_none_is_refused() {
    for listen in [LOOPBACK, EVERYWHERE] {
        for host in [
            "",
            ":8787",
            "localhost:",
            "localhost:http",
            "localhost:99999",
            "localhost:-1",
            "localhost:80:80",
            "::1",
            "[::1",
            "[::1]80",
            "[]",
            "localhost/",
            "ada@localhost",
            " localhost",
        ] {
            check_host(listen, host, false);
        }
    }
}

#[track_caller]
fn check_origin(text: &str, accepted: bool) {
    assert_eq!(Origin::parse(text).is_some(), accepted, "{text:?}: {:?}", Origin::parse(text));
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    check_origin("https://app.example.org", true);
    check_origin("http://localhost:3000", true);
    check_origin("http://[::1]:3000", true);
    check_origin("null", false);
    check_origin("", false);
    check_origin("*", false);
    check_origin("app.example.org", false);
    check_origin("//app.example.org", false);
    check_origin("ftp://app.example.org", false);
    check_origin("https://", false);
    check_origin("https://app.example.org/", false);
    check_origin("https://app.example.org/path", false);
    check_origin("https://app.example.org?a", false);
    check_origin("https://app.example.org#a", false);
    check_origin("https://ada@app.example.org", false);
    check_origin("https://app.example.org, https://b.example", false);
}

#[test]
fn a_port_that_does_not_exist_is_not_another() {
    check_origin("https://app.example.org:99999", false);
    check_origin("https://app.example.org:", false);
    check_origin("https://app.example.org:a", false);
}

#[test]
fn a_pattern_is_no_origin_for_it_would_never_be_met() {
    check_origin("https://*.example.org", false);
}

#[track_caller]
fn check_same(one: &str, other: &str, same: bool) {
    assert_eq!(Origin::parse(one).unwrap() == Origin::parse(other).unwrap(), same, "{one} and {other}");
}

#[test]
fn two_origins_are_one_when_scheme_host_and_port_are() {
    check_same("https://app.example.org", "https://app.example.org:443", true);
    check_same("https://app.example.org", "https://APP.example.org", true);
    check_same("http://localhost", "http://localhost:80", true);
    check_same("https://app.example.org", "http://app.example.org", false);
    check_same("https://app.example.org", "https://app.example.org:8443", false);
    check_same("https://app.example.org", "https://example.org", false);
    check_same("http://localhost", "http://127.0.0.1", false);
}

#[track_caller]
fn check_loopback(text: &str, loopback: bool) {
    assert_eq!(Origin::parse(text).unwrap().is_loopback(), loopback, "{text}");
}

#[test]
fn a_page_of_this_machine_is_known_by_its_host() {
    check_loopback("http://localhost:3000", true);
    check_loopback("https://LOCALHOST", true);
    check_loopback("http://127.0.0.1:3000", true);
    check_loopback("http://127.1.2.3", true);
    check_loopback("http://[::1]:3000", true);
    check_loopback("http://192.0.2.7", false);
    check_loopback("http://localhost.evil.example", false);
    check_loopback("http://127.0.0.1.evil.example", false);
}
