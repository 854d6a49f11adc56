//! Earlier protocol versions (2025-11-25, 2025-06-18, 2025-03-26): `rmcp` holds the session and calls our functions.
//!
//! A tool that needs user input ends its call with a request (see `lyceum_tools::NeedInput`). Here the request is sent
//! over the open session, and the call is repeated with the response, so tools are written once for all versions.

mod call;
mod changes;
mod elicit;
mod handler;
mod subscriptions;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures::StreamExt;
use http::{Method, Request, request::Parts};
use http_body_util::BodyExt;
use lyceum_store::Db;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::session::{SavedSessions, SessionNotFound, Sessions};
use crate::config::Config;

pub(super) use handler::Session;
pub(crate) use handler::Shared;

/// Maximum interval between checks for idle sessions.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// How often expired sessions are deleted from disk.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);

/// The HTTP endpoint of earlier protocol versions.
#[derive(Clone)]
pub(crate) struct Legacy {
    service: StreamableHttpService<Session, Sessions>,
    sessions: Arc<Sessions>,
    files: SavedSessions,
    stop: CancellationToken,
}

impl Legacy {
    pub(crate) fn new(shared: Shared, config: &Config, db: Option<&Db>) -> Self {
        let sessions = Arc::new(Sessions::new(&config.limits));
        let files = sessions.saved(&config.data_dir, db, &config.limits);
        let stop = CancellationToken::new();
        // The middleware has checked Host, Origin and size already.
        let mut settings = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(config.limits.body_bytes);
        settings.session_store = Some(Arc::new(files.clone()));
        let service =
            StreamableHttpService::new(move || Ok(Session::new(shared.clone())), sessions.clone(), settings);
        Self { service, sessions, files, stop }
    }

    /// Checks that the caller may use a session.
    pub(super) async fn visit(&self, session: &str, subject: Option<&str>) -> Result<(), SessionNotFound> {
        self.files.visit(session, subject).await
    }

    pub(crate) async fn handle(&self, request: Request<Body>) -> Response {
        let listens = request.method() == Method::GET;
        let id = request.headers().get(super::SESSION_ID).and_then(|id| id.to_str().ok());
        let busy = id.map(|id| self.sessions.enter(id));
        // The future is tens of kilobytes; boxed, the futures around it stay small and cheap to move.
        let response = Box::pin(self.service.handle(request)).await.map(Body::new);
        if listens {
            // A listening stream ends with the server; the stream of a call ends with its response.
            let stop = self.stop.clone().cancelled_owned();
            let until_stopped = move |frame| {
                let _until_body_ends = &busy;
                frame
            };
            return response
                .map(|body| Body::from_stream(body.into_data_stream().map(until_stopped).take_until(stop)));
        }
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _until_body_ends = &busy;
                frame
            }))
        })
    }

    /// Calls a tool in a session.
    pub(crate) async fn call(&self, session: &str, parts: Parts, bytes: Bytes) -> Response {
        match call::call(&self.sessions, session.into(), parts, &bytes).await {
            Ok(response) => response,
            Err(parts) => self.handle(Request::from_parts(parts, Body::from(bytes))).await,
        }
    }

    /// Evicts idle sessions from memory and deletes expired ones from disk, until the server stops.
    pub(crate) async fn expire_idle(self, idle: Duration) {
        let mut swept = None::<Instant>;
        loop {
            self.sessions.end_idle().await;
            if swept.is_none_or(|at| at.elapsed() >= SWEEP_INTERVAL) {
                swept = Some(Instant::now());
                self.files.sweep().await;
            }
            tokio::time::sleep((idle / 4).min(IDLE_CHECK_INTERVAL)).await;
        }
    }

    /// Evicts all sessions from memory; they are restored from their files.
    pub(crate) async fn evict_all(&self) {
        self.sessions.evict_all().await;
    }

    /// Ends the streams of all sessions; clients can resume their sessions later.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}
