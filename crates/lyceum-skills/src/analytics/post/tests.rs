//! What answers mean.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderValue, RETRY_AFTER},
};

use super::{advice, retry_after};

#[test]
fn an_answer_that_time_can_heal_is_no_refusal() {
    for status in 300..600 {
        let later = matches!(status, 408 | 409 | 425 | 429 | 500..);
        let advice = advice(StatusCode::from_u16(status).unwrap());
        assert_eq!(advice.is_none(), later, "{status}");
    }
}

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
    check("18446744073709551615", Some(u64::MAX));
    check("Wed, 18 Feb 2026 14:31:30 GMT", Some(90));
    check("Wed, 18 Feb 2026 14:00:00 GMT", Some(0));
    check("soon", None);
    check("-5", None);
    check("", None);
}
