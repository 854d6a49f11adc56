//! Request bodies: read whole, within a size and a time.

use std::time::Duration;

use axum::body::Body;
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
pub(super) async fn read_body_of(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    within_time: Duration,
) -> Result<Bytes, ApiError> {
    let said =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|length| length > most) {
        return Err(too_large(most));
    }
    match within(within_time, Limited::new(body, most).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(most)),
        Ok(Err(_)) => Err(ApiError::new(ErrorCode::ValidationError, "the body ended before it was whole")),
        Err(_) => Err(too_slow(within_time)),
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
