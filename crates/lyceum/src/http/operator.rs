//! The listener of operators (`server.operator_listen`): health, readiness and metrics in full, to whoever reaches it.

use std::{convert::Infallible, sync::Arc};

use axum::response::{IntoResponse, Response};
use http::{Method, header};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use lyceum_model::ErrorCode;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::{ApiError, HostRule, health, serve::ACCEPT_PAUSE};
use crate::app::App;

/// How many connections there may be: few programs scrape one server.
const MAX_CONNECTIONS: usize = 64;

/// Serves until the server ends.
pub async fn serve_operators(app: App, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let hosts = listener.local_addr().map(|addr| HostRule::new(addr, app.config.hosts.names().cloned()));
    let Ok(hosts) = hosts.map(Arc::new) else { return };
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let connection = connection(app.clone(), hosts.clone(), stream);
                app.tasks.spawn(async move {
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

async fn connection(app: App, hosts: Arc<HostRule>, stream: TcpStream) {
    let read_within = app.config.limits.read;
    let service = service_fn(move |request| answer(app.clone(), hosts.clone(), request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(read_within)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "a connection of an operator ended early");
    }
}

async fn answer(app: App, hosts: Arc<HostRule>, request: Request<Incoming>) -> Result<Response, Infallible> {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    // A page on the web can point a name of its own at this machine.
    if !host.is_some_and(|host| hosts.allows(host)) || request.headers().contains_key(header::ORIGIN) {
        let message = "this listener is not known by the name in Host; add it to server.allowed_hosts";
        return Ok(ApiError::new(ErrorCode::Forbidden, message).into_response());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let message = "this path does not take this method";
        return Ok(ApiError::new(ErrorCode::MethodNotAllowed, message).into_response());
    }
    Ok(match request.uri().path() {
        "/livez" => health::live().await.into_response(),
        "/readyz" => health::readiness(&app).await,
        "/health" => health::details(&app).await,
        "/metrics" => health::all_metrics(&app).await,
        _ => {
            let message = "there is nothing at this path; there are /health, /livez, /readyz and /metrics";
            ApiError::new(ErrorCode::NotFound, message).into_response()
        }
    })
}
