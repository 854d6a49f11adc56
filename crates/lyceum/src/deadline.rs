//! Timeouts.

use std::{future::Future, pin::pin, task::Poll, time::Duration};

use futures::poll;
use tokio::time::error::Elapsed;

/// Awaits a future with a timeout. A future that is ready at once, as most are, costs no timer.
pub(crate) async fn within<W: Future>(limit: Duration, work: W) -> Result<W::Output, Elapsed> {
    let mut work = pin!(work);
    if let Poll::Ready(output) = poll!(work.as_mut()) {
        return Ok(output);
    }
    tokio::time::timeout(limit, work).await
}
