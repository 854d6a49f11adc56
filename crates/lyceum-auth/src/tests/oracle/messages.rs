//! Differential tests of our SIWE parser against the crate `siwe`, which is less strict.
//!
//! What we accept, it accepts, with the same content; and we serialize it to the same bytes.

mod made;

use std::str::FromStr;

use alloy_primitives::hex;
use lyceum_harness::random::Random;
use siwe::{Message as Other, ParseError};

use crate::{
    Message, Moment, Visitor,
    oauth::{Params, client::ClientMetadata},
    tests::{Bench, address, key, sign},
};
use made::{changed, good};

/// Whether we accept a text; if so, asserts that the other parser reads the same.
#[track_caller]
fn is_accepted(text: &str) -> bool {
    let Ok(ours) = Message::parse(text) else { return false };
    assert_eq!(ours.to_string(), text);
    match Other::from_str(text) {
        Ok(theirs) => assert_same(&ours, &theirs, text),
        Err(error) => assert!(is_known_difference(&ours, &error), "{error}: {text:?}"),
    }
    true
}

/// Known cases where the other parser rejects what we accept: a scheme before the host, and domains and URIs that
/// we check by characters only. That is safe, because both are compared with what the server generated.
fn is_known_difference(ours: &Message, error: &ParseError) -> bool {
    ours.scheme.is_some() || matches!(error, ParseError::Domain(_) | ParseError::Uri(_))
}

#[track_caller]
fn assert_same(ours: &Message, theirs: &Other, text: &str) {
    let moment = |moment: &Moment| moment.at().as_nanosecond();
    let other = |stamp: &siwe::TimeStamp| stamp.as_ref().unix_timestamp_nanos();
    assert_eq!(ours.domain, theirs.domain.as_str());
    assert_eq!(ours.address, theirs.address);
    assert_eq!(ours.statement, theirs.statement);
    assert_eq!(ours.uri, theirs.uri.as_str());
    assert_eq!((ours.chain_id, &ours.nonce), (theirs.chain_id, &theirs.nonce));
    assert_eq!(moment(&ours.issued_at), other(&theirs.issued_at), "{text:?}");
    assert_eq!(
        ours.expiration_time.as_ref().map(moment),
        theirs.expiration_time.as_ref().map(other),
        "{text:?}"
    );
    assert_eq!(ours.not_before.as_ref().map(moment), theirs.not_before.as_ref().map(other), "{text:?}");
    assert_eq!(ours.request_id, theirs.request_id);
    let resources: Vec<&str> = theirs.resources.iter().map(|uri| uri.as_str()).collect();
    assert_eq!(ours.resources.clone().unwrap_or_default(), resources);
    // It omits an empty list of resources.
    if ours.resources.as_ref().is_none_or(|resources| !resources.is_empty()) {
        assert_eq!(theirs.to_string(), text);
    }
}

#[test]
fn what_is_good_is_good_for_both() {
    let mut random = Random::of(1);
    for _ in 0..500 {
        let text = good(&mut random);
        assert!(is_accepted(&text), "{text:?}");
        assert!(Other::from_str(&text).is_ok(), "{text:?}");
    }
}

#[test]
fn what_we_take_of_changed_messages_the_other_takes_too() {
    let (mut random, mut accepted, mut rejected) = (Random::of(2), 0, 0);
    for _ in 0..20_000 {
        let mut text = good(&mut random);
        for _ in 0..=random.below(3) {
            text = changed(&text, &mut random);
        }
        if is_accepted(&text) { accepted += 1 } else { rejected += 1 }
    }
    // Both outcomes are common, so both are covered.
    assert!(accepted > 800 && rejected > 10_000, "{accepted} {rejected}");
}

#[test]
fn any_place_of_a_message_may_be_changed() {
    let text = good(&mut Random::of(5));
    let (start, mut accepted) = (text.as_bytes(), 0);
    for place in 0..start.len() {
        for byte in *b"\0\n\r \"%/09:AZaz~\x7f" {
            let mut bytes = start.to_vec();
            bytes[place] = byte;
            accepted += usize::from(is_accepted(&String::from_utf8(bytes).unwrap()));
        }
    }
    assert!(accepted > start.len(), "{accepted}");
}

#[test]
fn what_is_looked_at_by_its_letters_alone_the_other_refuses() {
    let good = good(&mut Random::of(1));
    let line = |name: &str| good.lines().find(|line| line.starts_with(name)).unwrap();
    let uri = line("URI: ");
    let uris = ["-ttp://x", "http://a]b", "http://x:port", "urn:x?%2", "urn:#a#b"];
    let texts = uris.map(|text| good.replace(uri, &format!("URI: {text}"))).into_iter();
    for text in texts.chain(["exam%ple.org", "a]b"].map(|domain| with_domain(&good, domain))) {
        assert!(is_accepted(&text) && Other::from_str(&text).is_err(), "{text:?}");
    }
}

fn with_domain(good: &str, domain: &str) -> String {
    let (_, rest) = good.split_once(" wants").unwrap();
    format!("{domain} wants{rest}")
}

#[test]
fn the_other_takes_what_we_refuse() {
    let good = good(&mut Random::of(1));
    let (head, rest) = good.split_once("\n\n").unwrap();
    let texts = [
        format!("{head}\nnot empty\n{rest}"),
        good.replace("\nNonce: ", "\nNonce: -"),
        good.replace("\nChain ID: ", "\nChain ID: +"),
        good.replace("\nChain ID: ", "\nChain ID: 0"),
    ];
    for text in texts {
        assert!(Other::from_str(&text).is_ok() && !is_accepted(&text), "{text:?}");
    }
}

#[tokio::test]
async fn what_the_server_writes_the_other_reads_and_finds_signed() {
    let bench = Bench::new();
    let names = ["Test client", "Zoë's \"100%\" client\n", "🦉", "\u{202e}evil", "a://b wants you to", ""];
    let redirects = [
        "http://127.0.0.1:4000/callback",
        "http://[::1]/callback",
        "https://app.example.org/callback?a=%20b",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "com.example.app:/callback",
    ];
    for (name, redirect) in names.iter().flat_map(|name| redirects.map(|redirect| (*name, redirect))) {
        let metadata = ClientMetadata {
            redirect_uris: vec![redirect.to_owned()],
            client_name: Some(name.to_owned()),
            ..ClientMetadata::default()
        };
        let client = bench.auth.register(&metadata, bench.now).unwrap().client_id;
        let query = bench.query("").replace(&bench.client, &client);
        let query = query.replace("&redirect_uri=http://127.0.0.1:4000/callback", "");
        let started = bench
            .auth
            .start_authorization(&Params::parse(&query).unwrap(), Visitor::default(), bench.now)
            .await
            .unwrap();
        let signed = bench.sign(&started, &key(1));
        assert!(is_accepted(&signed.message));
        let theirs = Other::from_str(&signed.message).unwrap();
        assert_eq!(theirs.address, address(&key(1)));
        let signature = hex::decode(&signed.signature).unwrap().try_into().unwrap();
        theirs.verify_eip191(&signature).unwrap();
        let other = hex::decode(sign(&key(2), &signed.message)).unwrap().try_into().unwrap();
        assert!(theirs.verify_eip191(&other).is_err());
    }
}

#[test]
fn a_time_is_written_as_rfc_3339_has_it_for_both() {
    let good = good(&mut Random::of(1));
    let issued = good.lines().find(|line| line.starts_with("Issued At: ")).unwrap();
    let at = |time: &str| good.replace(issued, &format!("Issued At: 2026-09-30{time}"));
    for time in ["T16:25:24Z", "T16:25:24.5Z", "T16:25:24+02:00", "T16:25:24.123456-11:30"] {
        assert!(is_accepted(&at(time)) && Other::from_str(&at(time)).is_ok(), "{time}");
    }
    for time in [
        "T16:25Z",
        "T16Z",
        "T162524Z",
        "T16:25:60Z",
        "T16:25:24+02",
        "T16:25:24+0200",
        "T16:25:24+25:59",
        "T16:25:24.Z",
    ] {
        assert!(!is_accepted(&at(time)) && Other::from_str(&at(time)).is_err(), "{time}");
    }
}
