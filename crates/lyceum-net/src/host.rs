//! Loopback hosts: never reached through a proxy, and plain http to them can't be intercepted on the network.

use std::net::IpAddr;

use reqwest::Url;

/// Whether a URL's host is `localhost` or a loopback address.
pub fn is_loopback_host(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a URL's host is a loopback host.
pub fn is_loopback_url(url: &Url) -> bool {
    url.host_str().is_some_and(is_loopback_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: bool) {
        assert_eq!(is_loopback_url(&Url::parse(url).unwrap()), expected, "{url}");
    }

    #[test]
    fn only_loopback_addresses_are_this_machine() {
        check("http://localhost:8080/x", true);
        check("http://LOCALHOST/", true);
        check("https://127.0.0.1", true);
        check("https://127.8.9.10", true);
        check("http://[::1]:9/", true);
        check("http://[0:0:0:0:0:0:0:1]/", true);
        check("https://localhost.example.com", false);
        check("https://127.0.0.1.example.com", false);
        check("https://10.0.0.1", false);
        check("http://0.0.0.0", false);
        check("http://[::ffff:10.0.0.1]", false);
        check("data:text/plain,localhost", false);
    }
}
