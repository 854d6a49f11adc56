//! What a store answered instead of doing what it was asked.

/// An answer that is not the one we hoped for.
#[derive(Debug, thiserror::Error)]
#[error("the store answered {status}{}", if code.is_empty() { String::new() } else { format!(" ({code})") })]
pub(in super::super) struct ErrorResponse {
    status: u16,
    /// The code in the body, such as `NoSuchBucket`; empty if there is none.
    code: String,
}

/// What an answer means to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum ErrorClass {
    /// There is no such object.
    NoObject,
    /// There is no such bucket, or it is not here.
    NoBucket,
    /// We may not do this.
    Denied,
    /// The key is too long for it.
    NameTooLong,
    /// Later it may work.
    Busy,
    /// Anything else.
    Other,
}

impl ErrorResponse {
    /// Reads an answer that is not a success.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        Self { status, code: code(&String::from_utf8_lossy(body)) }
    }

    /// What it means.
    pub(in super::super) fn meaning(&self) -> ErrorClass {
        match (self.status, self.code.as_str()) {
            (_, "NoSuchBucket") | (300..=399, _) => ErrorClass::NoBucket,
            (_, "KeyTooLongError") => ErrorClass::NameTooLong,
            (404, _) => ErrorClass::NoObject,
            // The latter is what S3 says of a signature for another region.
            (401 | 403, _) | (400, "AuthorizationHeaderMalformed" | "ExpiredToken") => ErrorClass::Denied,
            (408 | 409 | 425 | 429 | 500.., _) => ErrorClass::Busy,
            _ => ErrorClass::Other,
        }
    }
}

/// The code in an error of S3: `<Error><Code>NoSuchBucket</Code>…`.
fn code(body: &str) -> String {
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let code = code.map_or("", |(code, _)| code);
    code.chars().filter(char::is_ascii_alphanumeric).take(64).collect()
}
