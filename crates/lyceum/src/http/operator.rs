//! The listener of operators (`server.operator_listen`): the probes of the route table, to whoever reaches it as an operator.

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

/// How many connections there may be: few programs scrape one server.
const MAX_CONNECTIONS: usize = 64;

/// What every request here is answered with.
struct Listener {
    app: App,
    table: Arc<RouteTable>,
    hosts: HostRule,
}

/// Serves until the server ends.
pub async fn serve_operators(app: App, table: Arc<RouteTable>, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let hosts = listener.local_addr().map(|addr| HostRule::new(addr, app.config.hosts.names().cloned()));
    let Ok(hosts) = hosts else { return };
    let shared = Arc::new(Listener { app, table, hosts });
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let connection = connection(shared.clone(), stream, ClientAddr::of_peer(peer.ip()));
                shared.app.tasks.spawn(async move {
                    connection.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection of an operator could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(shared: Arc<Listener>, stream: TcpStream, client: ClientAddr) {
    let read_within = shared.app.config.limits.read;
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(shared.handle(client, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(read_within)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection of an operator ended early");
    }
}

impl Listener {
    async fn handle(&self, client: ClientAddr, request: Request<Incoming>) -> Response {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        // A page on the web can point a name of its own at this machine.
        if !host.is_some_and(|host| self.hosts.allows(host)) || request.headers().contains_key(header::ORIGIN)
        {
            let message = "this listener is not known by the name in Host; add it to server.allowed_hosts";
            return ApiError::new(ErrorCode::Forbidden, message).into_response();
        }
        let RouteMatch { policy, target, .. } = self.table.find(request.method(), request.uri().path());
        if !policy.is_probe {
            let probes: Vec<&str> = self.table.probes().collect();
            let message = format!("there is nothing at this path; there are {}", probes.join(", "));
            return ApiError::new(ErrorCode::NotFound, message).into_response();
        }
        let limits = &self.app.config.limits;
        let mut request = request.map(|body| policy.body.bound(Body::new(body), limits));
        request.extensions_mut().insert(Arc::new(Caller::trusted()));
        request.extensions_mut().insert(client);
        self.table.dispatch(target, request).await
    }
}
