//! Parsing of URLs, and removal of credentials.

use std::path::PathBuf;

use lyceum_net::Secret;

use super::{Address, TokenSource};

/// Checks the URL passed to git, and the user and token.
#[track_caller]
fn check(text: &str, url: &str, login: Option<(&str, &str)>) {
    let address = Address::parse(text).unwrap();
    assert_eq!(address.url, url, "{text}");
    assert_eq!(
        login_of(address, None).as_ref().map(|(user, token)| (user.as_str(), token.reveal())),
        login,
        "{text}"
    );
}

/// User and token of an address, with a configured token or without.
fn login_of(address: Address, token: Option<Secret>) -> Option<(String, Secret)> {
    let access = address.access(None, token, PathBuf::new())?;
    match access.token {
        TokenSource::Fixed(token) => Some((access.user, token)),
        TokenSource::App(_) => panic!("no app is configured"),
    }
}

#[track_caller]
fn check_refused(text: &str) {
    let error = Address::parse(text).map(|address| address.url).unwrap_err().to_string();
    assert!(error.starts_with("the repository URL "), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
}

#[test]
fn an_address_without_secrets_stays_as_it_is() {
    for text in [
        "https://example.org/kb.git",
        "http://127.0.0.1:8080/kb",
        "https://[::1]:8443/kb",
        "https://me@example.org/kb",
        "ssh://git@example.org:22/kb.git",
        "git://example.org/kb",
        "git@example.org:team/kb.git",
        "[::1]:team/kb.git",
        "file:///srv/my repositories/kb.git",
        "/srv/my repositories/kb.git",
        "../kb.bundle",
    ] {
        check(text, text, None);
    }
}

#[test]
fn secrets_are_taken_out_of_an_address() {
    let clean = "https://example.org/kb.git";
    check("https://me:s3cret@example.org/kb.git", clean, Some(("me", "s3cret")));
    check("https://:s3cret@example.org/kb.git", clean, Some(("x-access-token", "s3cret")));
    check("https://me:s3%2Fcr%40t@example.org/kb.git", clean, Some(("me", "s3/cr@t")));
    check("https://me:s3@cret@example.org/kb.git", clean, Some(("me", "s3@cret")));
    check("https://ghp_s3cret@example.org/kb.git", clean, Some(("x-access-token", "ghp_s3cret")));
    check("https://s3cret:x-oauth-basic@example.org/kb.git", clean, Some(("x-access-token", "s3cret")));
    let long = "a1".repeat(26);
    check(&format!("https://{long}@example.org/kb.git"), clean, Some(("x-access-token", &long)));
    check("ssh://git:s3cret@example.org/kb", "ssh://git@example.org/kb", None);
}

#[test]
fn a_configured_token_goes_to_web_addresses_and_before_the_one_in_the_address() {
    let check = |text: &str, expected: Option<(&str, &str)>| {
        let login = login_of(Address::parse(text).unwrap(), Secret::new("t0ken").ok());
        let found = login.as_ref().map(|(user, token)| (user.as_str(), token.reveal()));
        assert_eq!(found, expected, "{text}");
    };
    check("https://example.org/kb", Some(("x-access-token", "t0ken")));
    check("https://me@example.org/kb", Some(("me", "t0ken")));
    check("https://me:s3cret@example.org/kb", Some(("me", "t0ken")));
    check("ssh://git@example.org/kb", None);
    check("git@example.org:kb", None);
    check("/srv/kb.git", None);
}

#[test]
fn addresses_that_run_programs_or_can_be_read_as_options_are_refused() {
    check_refused("");
    check_refused("-u/bin/sh");
    check_refused("--upload-pack=/bin/sh");
    check_refused("ext::sh -c s3cret");
    check_refused("fd::3");
    check_refused("ftp://example.org/kb");
    check_refused("https://example.org/kb\n--option");
    check_refused("https://me:s3/cret@example.org/kb");
    check_refused("https:///kb");
    check_refused("https://me:s3 cret@example.org/kb");
}
