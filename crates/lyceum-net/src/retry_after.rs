//! The `Retry-After` header.

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822};
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// Returns the requested delay, given in seconds or as a date.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    // A date in the past means no delay.
    Some(Duration::try_from(then.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(text: &'static str, seconds: Option<u64>) {
        let now: Timestamp = "2026-02-18T14:30:00Z".parse().unwrap();
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]);
        assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs), "{text}");
    }

    #[test]
    fn a_server_says_how_long_to_wait_in_seconds_or_until_when() {
        check("120", Some(120));
        check(" 0 ", Some(0));
        check("18446744073709551615", Some(u64::MAX));
        check("Wed, 18 Feb 2026 14:31:30 GMT", Some(90));
        check("Wed, 18 Feb 2026 14:00:00 GMT", Some(0));
        check("soon", None);
        check("-5", None);
        check("", None);
    }
}
