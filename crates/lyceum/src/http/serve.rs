//! The listener: accepts connections within a limit, gives each its time limits, and stops in good order.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    RouteTable,
    connections::{ConnectionUse, Connections, Slot},
    handle,
};
use crate::app::App;

/// How long to wait after an accept that failed, for example because no file handle is left.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a probe may take to ask where all other places are taken.
const PROBE_HEAD_TIMEOUT: Duration = Duration::from_secs(2);

/// The largest head of a request, and how much is read from a connection at once.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The answer to a connection of an address that has too many.
const TOO_MANY_CONNECTIONS_RESPONSE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// How long answers that are ready may take to be written, however short the limit.
const MIN_SHUTDOWN_TIME: Duration = Duration::from_secs(1);

/// Serves until `stop`, then lets what is under way finish within the limit.
pub async fn serve(app: App, table: Arc<RouteTable>, listener: TcpListener, stop: CancellationToken) {
    let places = Connections::new(&app.config);
    let connections = TaskTracker::new();
    let ended = CancellationToken::new();
    app.tasks.spawn(app.legacy.clone().expire_idle(app.config.limits.session_idle));
    let accepting = accept(&app, &table, &listener, &places, &connections, &ended);
    tokio::pin!(accepting);
    tokio::select! {
        () = &mut accepting => {}
        () = stop.cancelled() => {}
    }
    let deadline = tokio::time::Instant::now() + app.config.limits.shutdown.max(MIN_SHUTDOWN_TIME);
    // New connections are still taken, so that readiness can be seen to be gone while calls finish.
    app.begin_drain();
    let finished = app.drain.finished();
    tokio::select! {
        () = &mut accepting => {}
        done = tokio::time::timeout(app.config.limits.shutdown, finished) => {
            if done.is_err() {
                tracing::warn!("calls were still under way at the end of limits.shutdown_seconds, and are cut off");
            }
        }
    }
    ended.cancel();
    connections.close();
    // Answers that are ready are still written; whoever does not read them is left behind.
    let _cut_off = tokio::time::timeout_at(deadline, connections.wait()).await;
}

async fn accept(
    app: &App,
    table: &Arc<RouteTable>,
    listener: &TcpListener,
    places: &Connections,
    connections: &TaskTracker,
    ended: &CancellationToken,
) {
    loop {
        // The place is taken before the connection, so that more clients than places wait in the system's queue.
        let Some(free) = places.free().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => match places.take(peer.ip(), free) {
                Some(place) => {
                    let (app, table, ended) = (app.clone(), table.clone(), ended.clone());
                    connections.spawn(connection(app, table, stream, peer.ip(), place, ended));
                }
                None => {
                    // Said without a look at what was asked: whoever has too many connections gets no more work.
                    let _best_effort = stream.try_write(TOO_MANY_CONNECTIONS_RESPONSE);
                    tracing::debug!("an address has as many connections as limits.connections_per_address");
                }
            },
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection until the client leaves, a limit is passed or the server ends.
async fn connection(
    app: App,
    table: Arc<RouteTable>,
    stream: TcpStream,
    peer: IpAddr,
    place: Slot,
    ended: CancellationToken,
) {
    let limits = app.config.limits.clone();
    let serves = place.serves;
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        handle(app.clone(), table.clone(), peer, serves, request.map(Body::new))
    });
    let (head_within, keeps_alive) = match serves {
        ConnectionUse::All => (limits.read, true),
        ConnectionUse::Probes => (limits.read.min(PROBE_HEAD_TIMEOUT), false),
    };
    // Without it the two writes of a streamed answer wait for each other's acknowledgement: 40 ms each.
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
        result = &mut connection => return note(result),
        () = ended.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    note(connection.await);
}

/// A connection that broke is the client's affair; it is noted for whoever looks for it.
fn note(result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
