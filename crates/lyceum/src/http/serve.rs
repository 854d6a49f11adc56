//! The listener: accepts connections within limits, with timeouts, and shuts down gracefully.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Current,
    connections::{ConnectionUse, Slot},
    handle,
};

/// Pause after a failed accept, for example if no file descriptors are left.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Timeout for the head of a request on a reserved connection.
const PROBE_HEAD_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum size of a request head, and of one read.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The response to a connection of an address that has too many.
const TOO_MANY_CONNECTIONS_RESPONSE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Minimum time for writing pending responses at shutdown.
const MIN_SHUTDOWN_TIME: Duration = Duration::from_secs(1);

/// Serves until `stop`, then drains in-flight requests within `limits.shutdown`.
pub async fn serve(current: Arc<Current>, listener: TcpListener, stop: CancellationToken) {
    let connections = TaskTracker::new();
    let ended = CancellationToken::new();
    let accepting = accept(&current, &listener, &connections, &ended);
    tokio::pin!(accepting);
    tokio::select! {
        () = &mut accepting => {}
        () = stop.cancelled() => {}
    }
    let app = current.get().app.clone();
    let deadline = tokio::time::Instant::now() + app.config.limits.shutdown.max(MIN_SHUTDOWN_TIME);
    // New connections are still accepted, so that `/readyz` can report the shutdown while calls finish.
    app.begin_drain();
    let finished = app.drain.finished();
    tokio::select! {
        () = &mut accepting => {}
        done = tokio::time::timeout(app.config.limits.shutdown, finished) => {
            if done.is_err() {
                tracing::warn!("shutdown timeout (limits.shutdown_seconds): aborting in-flight calls");
            }
        }
    }
    ended.cancel();
    connections.close();
    // Pending responses are still written; clients that don't read them are disconnected.
    let _cut_off = tokio::time::timeout_at(deadline, connections.wait()).await;
}

async fn accept(
    current: &Arc<Current>,
    listener: &TcpListener,
    connections: &TaskTracker,
    ended: &CancellationToken,
) {
    loop {
        let slots = current.get().slots.clone();
        // The slot is acquired before the accept, so that further clients wait in the listen backlog.
        let Some(free) = slots.free().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => match slots.take(peer.ip(), free) {
                Some(slot) => {
                    let (current, ended) = (current.clone(), ended.clone());
                    connections.spawn(connection(current, stream, peer.ip(), slot, ended));
                }
                None => {
                    // Sent without reading the request, to do no more work for an address with too many connections.
                    let _best_effort = stream.try_write(TOO_MANY_CONNECTIONS_RESPONSE);
                    tracing::debug!("rejected a connection: limits.connections_per_address reached");
                }
            },
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection until the client disconnects, a limit is exceeded or the server ends.
async fn connection(
    current: Arc<Current>,
    stream: TcpStream,
    peer: IpAddr,
    slot: Slot,
    ended: CancellationToken,
) {
    let limits = current.get().app.config.limits.clone();
    let serves = slot.serves;
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        handle(current.enter(), peer, serves, request.map(Body::new))
    });
    let (head_within, keeps_alive) = match serves {
        ConnectionUse::All => (limits.read, true),
        ConnectionUse::Probes => (limits.read.min(PROBE_HEAD_TIMEOUT), false),
    };
    // Without TCP_NODELAY, the two writes of a streamed response wait for delayed acknowledgements: 40 ms each.
    let _unsupported = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_within)
        .keep_alive(keeps_alive)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    tokio::pin!(connection);
    tokio::select! {
        result = &mut connection => return log_end(result),
        () = ended.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    log_end(connection.await);
}

/// Logs a broken connection at debug level: it is the client's problem.
fn log_end(result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%error, "connection ended early");
    }
}
