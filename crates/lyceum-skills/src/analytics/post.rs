//! Posts a batch and classifies the response.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_net::retry_after;
use reqwest::{Client, Response, StatusCode, header::CONTENT_TYPE};

use super::{endpoint::Endpoint, id::Id};

/// Outcome of posting a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PostOutcome {
    /// Accepted (2xx).
    Stored,
    /// Outcome unknown or temporary failure; retry the same batch.
    Retry {
        why: String,
        /// The `Retry-After` of the response.
        retry_after: Option<Duration>,
    },
    /// Rejected permanently, until an operator changes something.
    Refused { status: u16, advice: &'static str },
}

/// Posts a batch, within the client's timeout.
pub(super) async fn post(client: &Client, endpoint: &Endpoint, id: Id, body: Vec<u8>) -> PostOutcome {
    let request = client
        .post(endpoint.url())
        .header(CONTENT_TYPE, "application/json")
        .header("Idempotency-Key", id.as_str())
        .body(body);
    match request.send().await {
        Ok(response) => classify(&response, Timestamp::now()),
        Err(error) => PostOutcome::Retry { why: lyceum_net::causes(error), retry_after: None },
    }
}

fn classify(response: &Response, now: Timestamp) -> PostOutcome {
    let status = response.status();
    if status.is_success() {
        return PostOutcome::Stored;
    }
    match advice(status) {
        Some(advice) => PostOutcome::Refused { status: status.as_u16(), advice },
        None => PostOutcome::Retry {
            why: format!("the endpoint returned {}", status.as_u16()),
            retry_after: retry_after(response.headers(), now),
        },
    }
}

/// Advice for a permanent rejection; `None` if a retry may succeed.
fn advice(status: StatusCode) -> Option<&'static str> {
    match status.as_u16() {
        300..=399 => Some("it returned a redirect, which is not followed; configure the target URL"),
        // The same batch is still being processed, or the request came too early.
        408 | 409 | 425 | 429 => None,
        401 | 403 | 407 => Some("authentication failed; check the credentials in the configured URL"),
        404 | 405 | 410 => Some("the endpoint does not exist; check the configured URL"),
        413 => Some("100 kB are too large for it; raise the body limit of the receiver"),
        400..=499 => Some("see the log of the receiver; delete the file to discard its events"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
