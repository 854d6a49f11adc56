//! Error messages for failed requests. URLs may contain secrets, so no message includes one.

use std::error::Error as _;

/// Short category of a failure, safe to show to anyone.
pub fn category(error: &reqwest::Error) -> &'static str {
    match error {
        error if error.is_timeout() => "timed out",
        error if error.is_connect() => "could not connect",
        error if error.is_body() || error.is_decode() => "the response ended early",
        _ => "the request failed",
    }
}

/// The error with its causes on one line, for the log.
pub fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
