//! Reads request bodies, with limits on size and time, and within the shared byte budget.

use std::{error::Error, time::Duration};

use axum::{BoxError, body::Body};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use lyceum_model::{Caller, ErrorCode};
use lyceum_tools::{ByteBudget, ByteReservation};

use super::ApiError;
use crate::{app::App, deadline::within};

/// Bytes of each body that are not counted against the budget: connections are limited, and max bodies are no larger.
const FREE_BYTES: usize = 16 * 1024;

/// A request body, with its reservation in the byte budget.
pub(crate) struct RequestBody {
    pub(crate) bytes: Bytes,
    pub(crate) reservation: Option<ByteReservation>,
}

/// Reads a body. One whose `Content-Length` is too large is rejected before it is read. Anonymous callers have a lower
/// limit.
pub(crate) async fn read_body(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
) -> Result<RequestBody, ApiError> {
    let limits = &app.config.limits;
    let max = if caller.is_anonymous() { limits.anonymous_body_bytes } else { limits.body_bytes };
    read_limited(app.mcp.budget_of(caller), headers, body, max.min(limits.body_bytes), limits.read).await
}

/// Reads a small body with limits on size and time, without counting it against the budget.
pub(super) async fn read_body_of(
    headers: &HeaderMap,
    body: Body,
    max: usize,
    timeout: Duration,
) -> Result<Bytes, ApiError> {
    let unbounded = ByteBudget::new(usize::MAX);
    read_limited(&unbounded, headers, body, max, timeout).await.map(|body| body.bytes)
}

/// Streams the parts of a body to a function without buffering, with limits on size and time.
pub(super) async fn read_parts(
    headers: &HeaderMap,
    body: Body,
    max: usize,
    timeout: Duration,
    mut on_part: impl FnMut(&[u8]),
) -> Result<(), ApiError> {
    check_content_length(headers, max)?;
    let mut body = Limited::new(body, max);
    let reading = async {
        while let Some(frame) = body.frame().await {
            if let Some(part) = frame.map_err(ReadFailure::Client)?.data_ref() {
                on_part(part);
            }
        }
        Ok(())
    };
    with_timeout(timeout, max, reading).await
}

async fn read_limited(
    budget: &ByteBudget,
    headers: &HeaderMap,
    body: Body,
    max: usize,
    timeout: Duration,
) -> Result<RequestBody, ApiError> {
    check_content_length(headers, max)?;
    with_timeout(timeout, max, collect(budget, Limited::new(body, max))).await
}

/// Rejects a body whose `Content-Length` is too large.
fn check_content_length(headers: &HeaderMap, max: usize) -> Result<(), ApiError> {
    let declared =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > max) { Err(too_large(max)) } else { Ok(()) }
}

async fn with_timeout<T>(
    limit: Duration,
    max: usize,
    reading: impl Future<Output = Result<T, ReadFailure>>,
) -> Result<T, ApiError> {
    match within(limit, reading).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(ReadFailure::Client(error))) if is_length_limit(&*error) => Err(too_large(max)),
        Ok(Err(ReadFailure::Client(_))) => {
            Err(ApiError::new(ErrorCode::ValidationError, "the body is incomplete"))
        }
        Ok(Err(ReadFailure::OverBudget(error))) => {
            Err(ApiError::new(ErrorCode::Unavailable, error.to_string()).retry_after(1))
        }
        Err(_) => Err(too_slow(limit)),
    }
}

enum ReadFailure {
    Client(BoxError),
    OverBudget(lyceum_tools::BudgetExceeded),
}

/// Reads to the end. Counts received bytes, not the announced length: announcing costs a client nothing.
async fn collect(budget: &ByteBudget, mut body: Limited<Body>) -> Result<RequestBody, ReadFailure> {
    let (mut first, mut whole) = (Bytes::new(), BytesMut::new());
    // `None` for most bodies, so that they don't touch the shared counter.
    let (mut reservation, mut reserved) = (None::<ByteReservation>, FREE_BYTES);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(ReadFailure::Client)?.into_data() else { continue };
        let size = first.len().max(whole.len()) + data.len();
        if size > reserved {
            reservation
                .get_or_insert_with(|| budget.hold())
                .grow(size - reserved)
                .map_err(ReadFailure::OverBudget)?;
            reserved = size;
        }
        // Most bodies arrive in one frame, and are not copied.
        if first.is_empty() {
            first = data;
        } else {
            if whole.is_empty() {
                whole.extend_from_slice(&first);
            }
            whole.extend_from_slice(&data);
        }
    }
    let bytes = if whole.is_empty() { first } else { whole.freeze() };
    Ok(RequestBody { bytes, reservation })
}

/// Whether a size limit was exceeded: ours, or the one of the route below it.
fn is_length_limit(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(is_length_limit)
}

fn too_large(max: usize) -> ApiError {
    let message = format!("the body is larger than {max} bytes");
    ApiError::new(ErrorCode::PayloadTooLarge, message)
}

fn too_slow(limit: Duration) -> ApiError {
    let message = format!("the body did not arrive within {} s (limits.read_seconds)", limit.as_secs());
    // 408 instead of the 504 of the code: the client is late, not an upstream.
    ApiError::new(ErrorCode::Timeout, message).with_status(StatusCode::REQUEST_TIMEOUT)
}
