//! The listener: accepts connections within a limit, gives each its time limits, and stops in good order.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{handle, router};
use crate::app::App;

/// How long to wait after an accept that failed, for example because no file handle is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long answers that are ready may take to be written, however short the limit.
const LEAST_SHUTDOWN: Duration = Duration::from_secs(1);

/// Serves until `stop`, then lets what is under way finish within the limit.
pub async fn serve(app: App, listener: TcpListener, stop: CancellationToken) {
    let router = router(app.clone());
    let places = Arc::new(Semaphore::new(app.config.limits.connections));
    let connections = TaskTracker::new();
    let ended = CancellationToken::new();
    app.tasks.spawn(app.legacy.clone().look_after(app.config.limits.session_idle));
    let accepting = accept(&app, &router, &listener, &places, &connections, &ended);
    tokio::pin!(accepting);
    tokio::select! {
        () = &mut accepting => {}
        () = stop.cancelled() => {}
    }
    let deadline = tokio::time::Instant::now() + app.config.limits.shutdown.max(LEAST_SHUTDOWN);
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
    router: &Router,
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    connections: &TaskTracker,
    ended: &CancellationToken,
) {
    loop {
        // The place is taken before the connection, so that more clients than places wait in the system's queue.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let connection = connection(app.clone(), router.clone(), stream, peer.ip(), ended.clone());
                connections.spawn(async move {
                    connection.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves one connection until the client leaves, a limit is passed or the server ends.
async fn connection(app: App, router: Router, stream: TcpStream, peer: IpAddr, ended: CancellationToken) {
    let limits = app.config.limits.clone();
    // Without it the two writes of a streamed answer wait for each other's acknowledgement: 40 ms each.
    let _unsupported = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write));
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        handle(app.clone(), router.clone(), peer, request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.read)
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
