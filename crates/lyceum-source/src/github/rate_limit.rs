//! Rate limits: 403 or 429, told apart from a lack of permission by headers and message.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_net::retry_after;
use reqwest::header::HeaderMap;

/// How long to wait if GitHub doesn't say, as its documentation asks for.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);

/// How long to wait, if the response is a rate limit.
pub(super) fn wait(status: u16, headers: &HeaderMap, message: &str, now: Timestamp) -> Option<Duration> {
    if !matches!(status, 403 | 429) {
        return None;
    }
    if let Some(wait) = retry_after(headers, now) {
        return Some(wait);
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if text("x-ratelimit-remaining") == Some("0") {
        let reset = text("x-ratelimit-reset").and_then(|seconds| seconds.parse().ok());
        let reset = reset.and_then(|seconds| Timestamp::from_second(seconds).ok());
        let left = reset.map(|reset| Duration::try_from(reset.duration_since(now)).unwrap_or_default());
        return Some(left.unwrap_or(DEFAULT_WAIT));
    }
    let message = message.to_ascii_lowercase();
    let is_limit = status == 429 || message.contains("rate limit") || message.contains("abuse detection");
    is_limit.then_some(DEFAULT_WAIT)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    #[track_caller]
    fn check(status: u16, headers: &[(&'static str, &'static str)], message: &str, seconds: Option<u64>) {
        let now = Timestamp::from_second(1_000).unwrap();
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        assert_eq!(wait(status, &headers, message, now), seconds.map(Duration::from_secs), "{headers:?}");
    }

    #[test]
    fn a_rate_limit_is_told_apart_from_forbidden() {
        for status in [403, 429] {
            check(status, &[("retry-after", "7")], "", Some(7));
            check(status, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1042")], "", Some(42));
            check(status, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "900")], "", Some(0));
            check(status, &[("x-ratelimit-remaining", "0")], "", Some(60));
            check(status, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "soon")], "", Some(60));
            check(status, &[], "You have exceeded a secondary rate limit.", Some(60));
        }
        check(429, &[], "", Some(60));
        check(403, &[("x-ratelimit-remaining", "4999")], "Resource not accessible by token", None);
        check(403, &[], "", None);
        check(401, &[("retry-after", "7")], "", None);
        check(404, &[("x-ratelimit-remaining", "0")], "", None);
    }
}
