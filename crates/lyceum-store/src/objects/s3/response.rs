//! Error responses of S3-compatible stores.

/// An error response.
#[derive(Debug, thiserror::Error)]
#[error("the store returned status {status}{}", if code.is_empty() { String::new() } else { format!(" ({code})") })]
pub(in super::super) struct ErrorResponse {
    status: u16,
    /// The code in the body, such as `NoSuchBucket`; empty if there is none.
    code: String,
}

/// Class of an error response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum ErrorClass {
    /// The object doesn't exist.
    NoObject,
    /// The bucket doesn't exist, or is in another region.
    NoBucket,
    /// Access denied.
    Denied,
    /// The key is too long.
    NameTooLong,
    /// A retry may succeed.
    Busy,
    /// Anything else.
    Other,
}

impl ErrorResponse {
    /// Parses an error response.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        Self { status, code: code(&String::from_utf8_lossy(body)) }
    }

    /// Classifies the response.
    pub(in super::super) fn class(&self) -> ErrorClass {
        match (self.status, self.code.as_str()) {
            (_, "NoSuchBucket") | (300..=399, _) => ErrorClass::NoBucket,
            (_, "KeyTooLongError") => ErrorClass::NameTooLong,
            (404, _) => ErrorClass::NoObject,
            // `AuthorizationHeaderMalformed` means that the request was signed for another region.
            (401 | 403, _) | (400, "AuthorizationHeaderMalformed" | "ExpiredToken") => ErrorClass::Denied,
            (408 | 409 | 425 | 429 | 500.., _) => ErrorClass::Busy,
            _ => ErrorClass::Other,
        }
    }
}

/// Extracts the code of an S3 error: `<Error><Code>NoSuchBucket</Code>…`.
fn code(body: &str) -> String {
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let code = code.map_or("", |(code, _)| code);
    code.chars().filter(char::is_ascii_alphanumeric).take(64).collect()
}
