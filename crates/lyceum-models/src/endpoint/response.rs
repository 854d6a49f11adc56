//! Reads a response within its limits, or turns it into an error.

use jiff::Timestamp;
use lyceum_net::{BodyError, Secret, read_body, read_start, retry_after};
use reqwest::Response;
use serde::de::DeserializeOwned;

use super::{EndpointError, Limits};

/// Maximum number of bytes read of an error response.
const MAX_ERROR_BYTES: usize = 8 << 10;

/// Maximum length of a reported error message.
const MAX_ERROR_CHARS: usize = 200;

/// From this size on a response is parsed on a blocking thread.
const OFFLOAD_BYTES: usize = 64 << 10;

/// Reads and parses a successful response.
pub(super) async fn read<T>(
    response: Response,
    limits: Limits,
    key: Option<&Secret>,
) -> Result<T, EndpointError>
where
    T: DeserializeOwned + Send + 'static,
{
    let body = read_body(response, limits.bytes).await.map_err(|error| match error {
        BodyError::TooLarge { limit } => {
            EndpointError::Malformed(format!("a response of more than {} MiB", limit >> 20))
        }
        BodyError::Broken(error) => EndpointError::of(error, limits.time),
    })?;
    let parsed = if body.len() < OFFLOAD_BYTES {
        serde_json::from_slice(&body)
    } else {
        let parse = tokio::task::spawn_blocking(move || serde_json::from_slice(&body));
        parse.await.map_err(|_| EndpointError::Malformed("a response that can't be parsed".to_owned()))?
    };
    // The parse error may quote the response.
    parsed.map_err(|error| EndpointError::Malformed(redact(&error.to_string(), key)))
}

/// Turns an error status into an error.
pub(super) async fn error_response(response: Response, key: Option<&Secret>) -> EndpointError {
    let status = response.status().as_u16();
    let message = match status {
        429 | 503 => {
            return EndpointError::Busy {
                status,
                retry_after: retry_after(response.headers(), Timestamp::now()),
            };
        }
        300..=399 => "a redirect, which is not followed; set `url` to its target".to_owned(),
        _ => redact(&String::from_utf8_lossy(&read_start(response, MAX_ERROR_BYTES).await), key),
    };
    EndpointError::Refused { status, message }
}

/// The start of a message on one line, without the key.
pub(super) fn redact(text: &str, key: Option<&Secret>) -> String {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    // Redact before truncating: a partial key would not be recognized.
    let line = key.map_or_else(|| line.clone(), |key| key.redact(&line));
    line.chars().take(MAX_ERROR_CHARS).collect()
}

#[cfg(test)]
mod tests;
