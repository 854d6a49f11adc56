//! Answers that caches and clients keep, and the short way to say that they are still good.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// How long an answer is good, and how long an old one may be shown while the new one is fetched.
const CACHE_CONTROL_VALUE: HeaderValue =
    HeaderValue::from_static("public, max-age=300, stale-while-revalidate=3600");

/// What stands for a version of an answer: two are the same where their tags are.
#[derive(Debug, Clone)]
pub(super) struct Tag(HeaderValue);

impl Tag {
    /// The tag of something that is known by a text of letters, digits and dashes.
    pub(super) fn named(name: &str) -> Self {
        // Other texts can't come here; one that did would match nothing, and so be sent anew each time.
        let tag = HeaderValue::try_from(format!("\"{name}\""));
        Self(tag.unwrap_or(HeaderValue::from_static("\"\"")))
    }

    /// The tag of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::named(&format!("{:016x}", fingerprint(bytes)))
    }

    /// Whether the client has this version already.
    pub(super) fn is_known(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get_all(header::IF_NONE_MATCH).iter();
        let mut tags = sent.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        // What is sent as weak is compared all the same: RFC 9110 asks for the weak comparison here.
        tags.any(|tag| {
            let tag = tag.trim_ascii();
            tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == self.0.as_bytes()
        })
    }
}

/// The whole answer.
pub(super) fn fresh(tag: Tag, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    with_tag(response, tag)
}

/// The answer to a client that has it already.
pub(super) fn unchanged(tag: Tag) -> Response {
    with_tag(StatusCode::NOT_MODIFIED.into_response(), tag)
}

/// Whichever of the two it is.
pub(super) fn respond(
    headers: &HeaderMap,
    kind: &'static str,
    body: impl Into<Body> + AsRef<[u8]>,
) -> Response {
    let tag = Tag::of(body.as_ref());
    if tag.is_known(headers) { unchanged(tag) } else { fresh(tag, kind, body) }
}

/// An answer that is good for this moment only: whoever keeps it has to ask whether it still is.
pub(super) fn fleeting(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn with_tag(mut response: Response, tag: Tag) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag.0);
    headers.insert(header::CACHE_CONTROL, CACHE_CONTROL_VALUE);
    response
}

/// A number for some bytes, eight at a time: pages are tagged on every request. The same on every machine.
fn fingerprint(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(mixed(length), |hash, word| mixed(hash ^ word))
}

/// Spreads every bit over all of them.
fn mixed(number: u64) -> u64 {
    let wide = u128::from(number ^ 0x9e37_79b9_7f4a_7c15) * u128::from(0xd6e8_feb8_6659_fd93_u64);
    (wide as u64) ^ ((wide >> 64) as u64)
}
