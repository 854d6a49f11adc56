//! What answers mean.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_net::Secret;
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};

use super::{retry_after, told};

#[test]
fn the_endpoint_says_how_long_to_wait_in_seconds_or_until_when() {
    #[track_caller]
    fn check(text: &'static str, seconds: Option<u64>) {
        let now: Timestamp = "2026-02-18T14:30:00Z".parse().unwrap();
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]);
        assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs), "{text}");
    }
    check("120", Some(120));
    check(" 0 ", Some(0));
    check("Wed, 18 Feb 2026 14:31:30 GMT", Some(90));
    check("Wed, 18 Feb 2026 14:00:00 GMT", Some(0));
    check("soon", None);
    check("-5", None);
}

#[test]
fn what_others_say_is_one_short_line_without_the_key() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(told(text, Some(&Secret::new("abcd/efghijkl").unwrap())), expected, "{text:?}");
    }
    check("no  such\n model\u{7}", "no such model");
    check("key abcd/efghijkl.", "key ….");
    check(r#"{"key":"abcd\/efghijkl"}"#, r#"{"key":"…"}"#);
    check("key abcd****ijkl is wrong", "key … is wrong");
    check("key 'abcd...ijkl' is wrong", "key … is wrong");
    let (long, cut) = ("x".repeat(195) + "abcd/efghijkl and more", "x".repeat(195) + "… and");
    check(&long, &cut);
}
