//! What came back: read within its limits, or told as a fault.

use jiff::Timestamp;
use lyceum_net::{BodyError, Secret, read_body, read_start, retry_after};
use reqwest::Response;
use serde::de::DeserializeOwned;

use super::{Fault, Limits};

/// How much of a refusal is read.
const MAX_ERROR_BYTES: usize = 8 << 10;

/// How many characters of a refusal are told.
const MAX_ERROR_CHARS: usize = 200;

/// From this size on an answer is parsed beside the runtime.
const OFFLOAD_BYTES: usize = 64 << 10;

/// The answer, if it is one.
pub(super) async fn read<T>(response: Response, limits: Limits, key: Option<&Secret>) -> Result<T, Fault>
where
    T: DeserializeOwned + Send + 'static,
{
    let body = read_body(response, limits.bytes).await.map_err(|error| match error {
        BodyError::TooLarge { limit } => {
            Fault::Malformed(format!("an answer of more than {} MiB", limit >> 20))
        }
        BodyError::Broken(error) => Fault::of(error, limits.time),
    })?;
    let parsed = if body.len() < OFFLOAD_BYTES {
        serde_json::from_slice(&body)
    } else {
        let parse = tokio::task::spawn_blocking(move || serde_json::from_slice(&body));
        parse.await.map_err(|_| Fault::Malformed("an answer that can't be parsed".to_owned()))?
    };
    // What is wrong with it may quote it.
    parsed.map_err(|error| Fault::Malformed(redact(&error.to_string(), key)))
}

/// What an answer that is no success means.
pub(super) async fn refusal(response: Response, key: Option<&Secret>) -> Fault {
    let status = response.status().as_u16();
    let message = match status {
        429 | 503 => {
            return Fault::Busy { status, retry_after: retry_after(response.headers(), Timestamp::now()) };
        }
        300..=399 => "a redirect, which is not followed; configure the address that it leads to".to_owned(),
        _ => redact(&String::from_utf8_lossy(&read_start(response, MAX_ERROR_BYTES).await), key),
    };
    Fault::Refused { status, message }
}

/// The beginning of what somebody else said, on one line and without the key.
pub(super) fn redact(text: &str, key: Option<&Secret>) -> String {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    // The key goes before anything is cut, for half a key would not be known again.
    let line = key.map_or_else(|| line.clone(), |key| key.redact(&line));
    line.chars().take(MAX_ERROR_CHARS).collect()
}

#[cfg(test)]
mod tests;
