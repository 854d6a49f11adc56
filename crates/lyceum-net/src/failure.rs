//! What a failed request is called. URLs may hold secrets, so no text names one.

use std::error::Error as _;

/// The kind of a failure, in a few words that anybody may read.
pub fn category(error: &reqwest::Error) -> &'static str {
    match error {
        error if error.is_timeout() => "it took too long",
        error if error.is_connect() => "no connection",
        error if error.is_body() || error.is_decode() => "the answer ended early",
        _ => "the request failed",
    }
}

/// The failure with all its causes on one line, for the log.
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
