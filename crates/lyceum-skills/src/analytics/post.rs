//! One request: a batch goes out, and what came back is judged.

use std::time::Duration;

use jiff::Timestamp;
use lyceum_net::retry_after;
use reqwest::{Client, Response, StatusCode, header::CONTENT_TYPE};

use super::{endpoint::Endpoint, id::Id};

/// What the endpoint made of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PostOutcome {
    /// It has it.
    Stored,
    /// It may have it or not; the same batch again, later.
    Later {
        why: String,
        /// How long the endpoint wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// It has looked at it and does not want it, nor will it unless somebody changes something.
    Refused { status: u16, advice: &'static str },
}

/// Sends a batch, within the time-out of the client.
pub(super) async fn post(client: &Client, endpoint: &Endpoint, id: Id, body: Vec<u8>) -> PostOutcome {
    let request = client
        .post(endpoint.url())
        .header(CONTENT_TYPE, "application/json")
        .header("Idempotency-Key", id.as_str())
        .body(body);
    match request.send().await {
        Ok(response) => judge(&response, Timestamp::now()),
        Err(error) => PostOutcome::Later { why: lyceum_net::causes(error), retry_after: None },
    }
}

fn judge(response: &Response, now: Timestamp) -> PostOutcome {
    let status = response.status();
    if status.is_success() {
        return PostOutcome::Stored;
    }
    match advice(status) {
        Some(advice) => PostOutcome::Refused { status: status.as_u16(), advice },
        None => PostOutcome::Later {
            why: format!("it answered {}", status.as_u16()),
            retry_after: retry_after(response.headers(), now),
        },
    }
}

/// What somebody has to do about an answer that time does not heal.
fn advice(status: StatusCode) -> Option<&'static str> {
    match status.as_u16() {
        300..=399 => {
            Some("it answers with a redirect, which is not followed: configure the address it leads to")
        }
        // The same batch is still being worked on, or it is not its time.
        408 | 409 | 425 | 429 => None,
        401 | 403 | 407 => Some("it does not let us in: look at the secret in the configured address"),
        404 | 405 | 410 => Some("nobody takes events there: look at the configured address"),
        413 => Some("it finds 100 kB too large: raise the limit of the receiver"),
        400..=499 => Some("the log of the receiver knows why; remove the file if its events are not wanted"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
