//! Deadlines: waiting for work within a limit.

use std::{future::Future, pin::pin, task::Poll, time::Duration};

use futures::poll;
use tokio::time::error::Elapsed;

/// Waits for the work, but not longer than the limit. Work that is ready at once, as most is, costs no timer.
pub(crate) async fn within<W: Future>(limit: Duration, work: W) -> Result<W::Output, Elapsed> {
    let mut work = pin!(work);
    if let Poll::Ready(output) = poll!(work.as_mut()) {
        return Ok(output);
    }
    tokio::time::timeout(limit, work).await
}
