//! The middleware of every request and response.
//!
//! In order: request id, route lookup, log, drain, `Host`, `Origin`, CORS, authentication; then the handler, with
//! panics caught. What differs between paths is in the route table, not here.

use std::{
    convert::Infallible, future::poll_fn, net::IpAddr, panic::AssertUnwindSafe, pin::pin, time::Instant,
};

use axum::{body::Body, response::Response};
use futures::FutureExt;
use http::{HeaderName, Request, header};
use lyceum_model::ErrorCode;

use super::{
    ApiError, ClientAddr, RouteTable, auth,
    connections::ConnectionUse,
    cors::{CorsDecision, effective_method},
    generation::{Generation, InFlight},
    log::RequestLog,
    route::{Policy, Protocol, RateClass},
    table::{RouteMatch, Target},
    throttle::delay_refusal,
};
use crate::{app::App, mcp};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Handles one request; errors become responses.
pub(super) async fn handle(
    generation: InFlight,
    peer: IpAddr,
    serves: ConnectionUse,
    request: Request<Body>,
) -> Result<Response, Infallible> {
    let id = generation.app.request_ids.of(request.headers().get(REQUEST_ID));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let RouteMatch { label, policy, target } = generation.table.find(&effective_method(&request), &path);
    let mut log = RequestLog::begin(generation, &id, method, path, label, request.headers());
    let Generation { app, table, .. } = &*log.generation;
    let cors = CorsDecision::of(app, policy.cors, &request);
    let client = ClientAddr::of_request(peer, request.headers(), &app.config.trusted_proxies);
    let mut admitted = admit(app, serves, policy, &cors, &request);
    if admitted.is_ok() && policy.rate == RateClass::SignIn {
        admitted = count_sign_in(app, client).await;
    }
    let mut response = match admitted {
        Err(error) => {
            if error.code == ErrorCode::RateLimited {
                delay_refusal().await;
            }
            policy.protocol.refusal(error)
        }
        Ok(()) => match cors.preflight(request.method()) {
            Some(response) => response,
            None => {
                let work = route(app, table, (policy, target), client, request);
                let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
                // Entered by hand: `Instrument` would clone the span for every request.
                let within = poll_fn(|cx| log.span.in_scope(|| work.as_mut().poll(cx)));
                within.await.unwrap_or_else(|_| log.span.in_scope(|| panicked(policy.protocol)))
            }
        },
    };
    response.headers_mut().insert(REQUEST_ID, id);
    cors.finish(app, &mut response);
    log.status = response.status();
    Ok(response.map(|body| log.until_end_of(body)))
}

/// Authenticates the caller and calls the handler.
async fn route(
    app: &App,
    table: &RouteTable,
    (policy, target): (Policy, Target),
    client: ClientAddr,
    mut request: Request<Body>,
) -> Response {
    let caller = match &app.auth {
        None => app.caller.clone(),
        Some(auth) => {
            let path = request.uri().path();
            let admitted = auth::admit(app, auth, client, policy, path, request.headers()).await;
            let is_anonymous = admitted.as_ref().map_or(true, |caller| caller.is_anonymous());
            if is_anonymous && let Err(error) = app.throttle.acquire(client, policy.rate).await {
                return policy.protocol.refusal(error);
            }
            let caller = match admitted {
                Ok(caller) => caller,
                Err(refusal) => return refusal,
            };
            if let Some(refusal) = auth::denial(app, policy, path, &caller) {
                return refusal;
            }
            caller
        }
    };
    if target == Target::Mcp {
        return mcp::endpoint(app, caller, client, request).await;
    }
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(client);
    let request = request.map(|body| policy.body.bound(body, &app.config.limits));
    table.dispatch(target, request).await
}

/// Checks whether a request may proceed.
fn admit(
    app: &App,
    serves: ConnectionUse,
    policy: Policy,
    cors: &CorsDecision,
    request: &Request<Body>,
) -> Result<(), ApiError> {
    if serves == ConnectionUse::Probes && !policy.is_probe {
        let message = "too many connections (limits.connections); retry in a moment";
        return Err(ApiError::new(ErrorCode::Unavailable, message).retry_after(1));
    }
    if app.drain.is_draining() && !policy.is_probe {
        let message = "the server is shutting down; retry in a moment";
        return Err(ApiError::new(ErrorCode::Unavailable, message).retry_after(1));
    }
    let host = host_of(request).map_err(|message| ApiError::new(ErrorCode::ValidationError, message))?;
    if !app.config.hosts.allows(host) {
        let message =
            "the Host header is not allowed; add the name to server.allowed_hosts, or set server.public_url";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    if cors.is_refused {
        let message = "this Origin is not allowed; add it to server.allowed_origins";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    Ok(())
}

/// Counts a sign-in or token request of an address.
async fn count_sign_in(app: &App, client: ClientAddr) -> Result<(), ApiError> {
    app.sign_in_rate.count_everywhere(client, Instant::now()).await.map_err(|seconds| {
        let message = "too many sign-in and token requests from this address; retry later";
        ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds)
    })
}

/// The host of the request: exactly one, in the header or in the request target.
fn host_of(request: &Request<Body>) -> Result<&str, &'static str> {
    let mut sent = request.headers().get_all(header::HOST).iter();
    match (sent.next(), sent.next()) {
        (Some(host), None) => host.to_str().map_err(|_| "Host: must be visible ASCII"),
        (Some(_), Some(_)) => Err("Host: must be sent once"),
        (None, _) => request.uri().host().ok_or("Host: is missing"),
    }
}

fn panicked(protocol: Protocol) -> Response {
    tracing::error!("handler panicked");
    protocol.refusal(ApiError::new(ErrorCode::InternalError, "an unexpected error occurred"))
}
