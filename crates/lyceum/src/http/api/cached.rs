//! EETags, `Cache-Control` and 304 responses.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// Cacheable for five minutes, and usable for another hour while it is revalidated.
const CACHE_CONTROL_VALUE: HeaderValue =
    HeaderValue::from_static("public, max-age=300, stale-while-revalidate=3600");

/// An EETag: equal for equal versions of a response.
#[derive(Debug, Clone)]
pub(super) struct ETag(HeaderValue);

impl ETag {
    /// Creates an ETag from letters, digits and dashes.
    pub(super) fn named(name: &str) -> Self {
        // Other texts can't occur; if one did, it would match nothing, and the response would always be sent in full.
        let tag = HeaderValue::try_from(format!("\"{name}\""));
        Self(tag.unwrap_or(HeaderValue::from_static("\"\"")))
    }

    /// Creates an ETag from a hash of the body.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::named(&format!("{:016x}", fingerprint(bytes)))
    }

    /// Whether `If-None-Match` contains this ETag.
    pub(super) fn matches(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get_all(header::IF_NONE_MATCH).iter();
        let mut tags = sent.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        // RFC 9110 requires the weak comparison for `If-None-Match`.
        tags.any(|tag| {
            let tag = tag.trim_ascii();
            tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == self.0.as_bytes()
        })
    }
}

/// The full response.
pub(super) fn full(tag: ETag, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    with_tag(response, tag)
}

/// The response 304.
pub(super) fn not_modified(tag: ETag) -> Response {
    with_tag(StatusCode::NOT_MODIFIED.into_response(), tag)
}

/// The full response, or 304 if the client has it.
pub(super) fn respond(
    headers: &HeaderMap,
    kind: &'static str,
    body: impl Into<Body> + AsRef<[u8]>,
) -> Response {
    let tag = ETag::of(body.as_ref());
    if tag.matches(headers) { not_modified(tag) } else { full(tag, kind, body) }
}

/// Marks a response that must be revalidated before each use.
pub(super) fn no_cache(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn with_tag(mut response: Response, tag: ETag) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag.0);
    headers.insert(header::CACHE_CONTROL, CACHE_CONTROL_VALUE);
    response
}

/// Hashes bytes, eight at a time, because bodies are hashed on every request. Stable across machines and builds.
fn fingerprint(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(mixed(length), |hash, word| mixed(hash ^ word))
}

/// Mixes the bits of a number.
fn mixed(number: u64) -> u64 {
    let wide = u128::from(number ^ 0x9e37_79b9_7f4a_7c15) * u128::from(0xd6e8_feb8_6659_fd93_u64);
    (wide as u64) ^ ((wide >> 64) as u64)
}
