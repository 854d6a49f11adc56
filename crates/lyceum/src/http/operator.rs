//! The operator listener (`server.operator_listen`): serves the health probes and metrics; every caller counts as
//! operator.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::header;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use lyceum_model::{Caller, ErrorCode};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::{ApiError, ClientAddr, Current, HostRule, serve::ACCEPT_PAUSE, table::RouteMatch};
use crate::tasks::Tasks;

/// Maximum number of connections: few programs scrape one server.
const MAX_CONNECTIONS: usize = 64;

/// State shared by all connections.
struct Listener {
    current: Arc<Current>,
    addr: SocketAddr,
    tasks: Tasks,
}

/// Serves until the process ends.
pub(crate) async fn serve_operators(current: Arc<Current>, tasks: Tasks, listener: TcpListener) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let Ok(addr) = listener.local_addr() else { return };
    let shared = Arc::new(Listener { current, addr, tasks });
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let connection = connection(shared.clone(), stream, ClientAddr::of_peer(peer.ip()));
                shared.tasks.spawn(async move {
                    connection.await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept an operator connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(shared: Arc<Listener>, stream: TcpStream, client: ClientAddr) {
    let read_timeout = shared.current.get().app.config.limits.read;
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(shared.handle(client, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(read_timeout)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "operator connection ended early");
    }
}

impl Listener {
    async fn handle(&self, client: ClientAddr, request: Request<Incoming>) -> Response {
        let current = self.current.enter();
        let hosts = HostRule::new(self.addr, current.app.config.hosts.names().cloned());
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        // Prevents DNS rebinding: a web page can resolve its own name to this machine.
        if !host.is_some_and(|host| hosts.allows(host)) || request.headers().contains_key(header::ORIGIN) {
            let message =
                "the Host header is not allowed, or Origin is sent; add the name to server.allowed_hosts";
            return ApiError::new(ErrorCode::Forbidden, message).into_response();
        }
        let RouteMatch { policy, target, .. } = current.table.find(request.method(), request.uri().path());
        if !policy.is_probe {
            let probes: Vec<&str> = current.table.probes().collect();
            let message = format!("no such path; this listener serves {}", probes.join(", "));
            return ApiError::new(ErrorCode::NotFound, message).into_response();
        }
        let limits = &current.app.config.limits;
        let mut request = request.map(|body| policy.body.bound(Body::new(body), limits));
        request.extensions_mut().insert(Arc::new(Caller::trusted()));
        request.extensions_mut().insert(client);
        current.table.dispatch(target, request).await
    }
}
