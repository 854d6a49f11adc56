//! Request bodies: read whole, within a size, a time, and the budget of bytes that all requests share.

use std::{error::Error, time::Duration};

use axum::{BoxError, body::Body};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use lyceum_model::{Caller, ErrorCode};
use lyceum_tools::{ByteBudget, ByteReservation};

use super::ApiError;
use crate::{app::App, deadline::within};

/// How much of each body costs nothing of the budget: connections are counted, and most bodies are no larger.
const FREE_BYTES: usize = 16 * 1024;

/// A body that was read, and what it takes of the budget for as long as this is kept.
pub(crate) struct RequestBody {
    pub(crate) bytes: Bytes,
    pub(crate) held: Option<ByteReservation>,
}

/// Reads a body. One that says it is too large is refused before a byte of it is read. Strangers may send less.
pub(crate) async fn read_body(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
) -> Result<RequestBody, ApiError> {
    let limits = &app.config.limits;
    let most = if caller.is_anonymous() { limits.anonymous_body_bytes } else { limits.body_bytes };
    read_within(app.mcp.budget_of(caller), headers, body, most.min(limits.body_bytes), limits.read).await
}

/// Reads a body of at most so many bytes, in so much time. For small ones: they take nothing of the budget.
pub(super) async fn read_body_of(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    within_time: Duration,
) -> Result<Bytes, ApiError> {
    let unbounded = ByteBudget::new(usize::MAX);
    read_within(&unbounded, headers, body, most, within_time).await.map(|body| body.bytes)
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
            if let Some(part) = frame.map_err(ReadFailure::Client)?.data_ref() {
                take(part);
            }
        }
        Ok(())
    };
    in_time(within_time, most, reading).await
}

async fn read_within(
    budget: &ByteBudget,
    headers: &HeaderMap,
    body: Body,
    most: usize,
    within_time: Duration,
) -> Result<RequestBody, ApiError> {
    refuse_larger(headers, most)?;
    in_time(within_time, most, collect(budget, Limited::new(body, most))).await
}

/// Refuses a body that says it is too large.
fn refuse_larger(headers: &HeaderMap, most: usize) -> Result<(), ApiError> {
    let declared =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > most) { Err(too_large(most)) } else { Ok(()) }
}

async fn in_time<T>(
    limit: Duration,
    most: usize,
    reading: impl Future<Output = Result<T, ReadFailure>>,
) -> Result<T, ApiError> {
    match within(limit, reading).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(ReadFailure::Client(error))) if passed_limit(&*error) => Err(too_large(most)),
        Ok(Err(ReadFailure::Client(_))) => {
            Err(ApiError::new(ErrorCode::ValidationError, "the body ended before it was whole"))
        }
        Ok(Err(ReadFailure::NoRoom(spent))) => {
            Err(ApiError::new(ErrorCode::Unavailable, spent.to_string()).retry_after(1))
        }
        Err(_) => Err(too_slow(limit)),
    }
}

enum ReadFailure {
    Client(BoxError),
    NoRoom(lyceum_tools::BudgetExceeded),
}

/// Reads to the end. What has come counts, not what was announced: announcing costs a client nothing.
async fn collect(budget: &ByteBudget, mut body: Limited<Body>) -> Result<RequestBody, ReadFailure> {
    let (mut first, mut whole) = (Bytes::new(), BytesMut::new());
    // Nothing for most, so that they touch nothing that others use.
    let (mut held, mut paid) = (None::<ByteReservation>, FREE_BYTES);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(ReadFailure::Client)?.into_data() else { continue };
        let size = first.len().max(whole.len()) + data.len();
        if size > paid {
            held.get_or_insert_with(|| budget.hold()).grow(size - paid).map_err(ReadFailure::NoRoom)?;
            paid = size;
        }
        // Most bodies come in one piece, and are not copied.
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
    Ok(RequestBody { bytes, held })
}

/// Whether a body was cut off at a limit: ours, or that of its route, which lies below.
fn passed_limit(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(passed_limit)
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
