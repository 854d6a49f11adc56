//! Request bodies: read whole, within a size and a time.

use std::time::Duration;

use axum::{BoxError, body::Body};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use lyceum_model::ErrorCode;

use super::ApiError;
use crate::{config::Limits, patience::within};

/// Reads a body. One that says it is too large is refused before a byte of it is read.
pub(crate) async fn read_body(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, ApiError> {
    read_body_of(headers, body, limits.body_bytes, limits.read).await
}

/// Reads a body of at most so many bytes, in so much time.
async fn read_body_of(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    within_time: Duration,
) -> Result<Bytes, ApiError> {
    refuse_larger(headers, most)?;
    let collected = Limited::new(body, most).collect();
    Ok(in_time(within_time, most, collected).await?.to_bytes())
}

/// Hands the parts of a body on as they arrive, and keeps none: at most so many bytes, in so much time.
pub(super) async fn read_parts(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    within_time: Duration,
    mut take: impl FnMut(&[u8]),
) -> Result<(), ApiError> {
    refuse_larger(headers, most)?;
    let mut body = Limited::new(body, most);
    let reading = async {
        while let Some(frame) = body.frame().await {
            if let Some(part) = frame?.data_ref() {
                take(part);
            }
        }
        Ok(())
    };
    in_time(within_time, most, reading).await
}

/// Refuses a body that says it is too large.
fn refuse_larger(headers: &HeaderMap, most: usize) -> Result<(), ApiError> {
    let said =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|length| length > most) { Err(too_large(most)) } else { Ok(()) }
}

async fn in_time<T>(
    limit: Duration,
    most: usize,
    reading: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, ApiError> {
    match within(limit, reading).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(most)),
        Ok(Err(_)) => Err(ApiError::new(ErrorCode::ValidationError, "the body ended before it was whole")),
        Err(_) => Err(too_slow(limit)),
    }
}

fn too_large(most: usize) -> ApiError {
    let message = format!("the body is larger than {most} bytes");
    ApiError::new(ErrorCode::PayloadTooLarge, message)
}

fn too_slow(limit: Duration) -> ApiError {
    let message = format!("the body did not arrive within {} s (limits.read_seconds)", limit.as_secs());
    // The client is late, not we: the table's 504 would blame something behind us.
    ApiError::new(ErrorCode::Timeout, message).with_status(StatusCode::REQUEST_TIMEOUT)
}
