//! The operator listener (`server.operator_listen`): serves the health probes and metrics; every caller counts as
//! operator.

use std::{convert::Infallible, sync::Arc};

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

use super::{ApiError, ClientAddr, HostRule, RouteTable, serve::ACCEPT_PAUSE, table::RouteMatch};
use crate::app::App;

/// Maximum number of connections: few programs scrape one server.
const MAX_CONNECTIONS: usize = 64;

/// State shared by all connections.
struct Listener {
    app: App,
    table: Arc<RouteTable>,
    hosts: HostRule,
}

/// Serves until the process ends.
pub async fn serve_operators(app: App, table: Arc<RouteTable>, listener: TcpListener) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let hosts = listener.local_addr().map(|addr| HostRule::new(addr, app.config.hosts.names().cloned()));
    let Ok(hosts) = hosts else { return };
    let shared = Arc::new(Listener { app, table, hosts });
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let connection = connection(shared.clone(), stream, ClientAddr::of_peer(peer.ip()));
                shared.app.tasks.spawn(async move {
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
    let read_timeout = shared.app.config.limits.read;
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
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        // Prevents DNS rebinding: a web page can resolve its own name to this machine.
        if !host.is_some_and(|host| self.hosts.allows(host)) || request.headers().contains_key(header::ORIGIN)
        {
            let message =
                "the Host header is not allowed, or Origin is sent; add the name to server.allowed_hosts";
            return ApiError::new(ErrorCode::Forbidden, message).into_response();
        }
        let RouteMatch { policy, target, .. } = self.table.find(request.method(), request.uri().path());
        if !policy.is_probe {
            let probes: Vec<&str> = self.table.probes().collect();
            let message = format!("no such path; this listener serves {}", probes.join(", "));
            return ApiError::new(ErrorCode::NotFound, message).into_response();
        }
        let limits = &self.app.config.limits;
        let mut request = request.map(|body| policy.body.bound(Body::new(body), limits));
        request.extensions_mut().insert(Arc::new(Caller::trusted()));
        request.extensions_mut().insert(client);
        self.table.dispatch(target, request).await
    }
}
