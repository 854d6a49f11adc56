//! The edge: what every request passes before it reaches an endpoint, and every answer after.
//!
//! In order: an id, the row of the route table, the log, the drain, `Host`, `Origin`, CORS, the caller; then the handler, with
//! panics contained. What differs from one path to another stands in its row, and nowhere here.

use std::{
    convert::Infallible, future::poll_fn, net::IpAddr, panic::AssertUnwindSafe, pin::pin, sync::Arc,
    time::Instant,
};

use axum::{body::Body, response::Response};
use futures::FutureExt;
use http::{HeaderName, Request, header};
use lyceum_model::ErrorCode;

use super::{
    ApiError, ClientAddr, RouteTable, auth,
    connections::ConnectionUse,
    cors::{Page, method_meant},
    log::RequestLog,
    route::{Policy, Protocol, RateClass},
    table::{RouteMatch, Target},
    throttle::hold_back,
};
use crate::{app::App, mcp};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Handles one request, whatever comes of it.
pub(super) async fn handle(
    app: App,
    table: Arc<RouteTable>,
    peer: IpAddr,
    serves: ConnectionUse,
    request: Request<Body>,
) -> Result<Response, Infallible> {
    let id = app.request_ids.of(request.headers().get(REQUEST_ID));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let RouteMatch { label, policy, target } = table.find(&method_meant(&request), &path);
    let mut log = RequestLog::begin(app, &id, method, path, label, request.headers());
    let page = Page::of(&log.app, policy.cors, &request);
    let client = ClientAddr::of_request(peer, request.headers(), &log.app.config.trusted_proxies);
    let mut response = match admit(&log.app, client, serves, policy, &page, &request) {
        Err(error) => {
            if error.code == ErrorCode::RateLimited {
                hold_back().await;
            }
            policy.protocol.refusal(error)
        }
        Ok(()) => match page.preflight(request.method()) {
            Some(response) => response,
            None => {
                let work = route(log.app.clone(), &table, (policy, target), client, request);
                let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
                // Entered by hand: a future that owns the span would count it up and down once more.
                let within = poll_fn(|cx| log.span.in_scope(|| work.as_mut().poll(cx)));
                within.await.unwrap_or_else(|_| log.span.in_scope(|| panicked(policy.protocol)))
            }
        },
    };
    response.headers_mut().insert(REQUEST_ID, id);
    page.finish(&log.app, &mut response);
    log.status = response.status();
    Ok(response.map(|body| log.until_end_of(body)))
}

/// Sends a request to its endpoint, together with who sends it.
async fn route(
    app: App,
    table: &RouteTable,
    (policy, target): (Policy, Target),
    client: ClientAddr,
    mut request: Request<Body>,
) -> Response {
    let caller = match &app.auth {
        None => app.caller.clone(),
        Some(auth) => {
            let path = request.uri().path();
            let admitted = auth::admit(&app, auth, client, policy, path, request.headers()).await;
            let is_stranger = admitted.as_ref().map_or(true, |caller| caller.is_anonymous());
            if is_stranger && let Err(error) = app.throttle.turn(client, policy.rate).await {
                return policy.protocol.refusal(error);
            }
            let caller = match admitted {
                Ok(caller) => caller,
                Err(refusal) => return refusal,
            };
            if let Some(refusal) = auth::denial(&app, policy, path, &caller) {
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

/// Lets a request in, or says why not.
fn admit(
    app: &App,
    client: ClientAddr,
    serves: ConnectionUse,
    policy: Policy,
    page: &Page,
    request: &Request<Body>,
) -> Result<(), ApiError> {
    if serves == ConnectionUse::Probes && !policy.is_probe {
        let message =
            "the server has as many connections as it takes (limits.connections); try again in a moment";
        return Err(ApiError::new(ErrorCode::Unavailable, message).retry_after(1));
    }
    if app.drain.is_draining() && !policy.is_probe {
        let message = "the server is about to stop; try again in a moment";
        return Err(ApiError::new(ErrorCode::Unavailable, message).retry_after(1));
    }
    if policy.rate == RateClass::SignIn {
        app.sign_in_rate.count(client, Instant::now()).map_err(|seconds| {
            let message = "too many sign-ins and token requests come from this address; try again later";
            ApiError::new(ErrorCode::RateLimited, message).retry_after(seconds)
        })?;
    }
    let host = host_of(request).map_err(|message| ApiError::new(ErrorCode::ValidationError, message))?;
    if !app.config.hosts.allows(host) {
        let message = "this server is not known by the name in Host; add it to server.allowed_hosts, or set server.public_url";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    if page.is_refused {
        let message = "pages of this origin may not call; add it to server.allowed_origins";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    Ok(())
}

/// The host that the request names: once, in the header or in the target.
fn host_of(request: &Request<Body>) -> Result<&str, &'static str> {
    let mut sent = request.headers().get_all(header::HOST).iter();
    match (sent.next(), sent.next()) {
        (Some(host), None) => host.to_str().map_err(|_| "Host: must be visible ASCII"),
        (Some(_), Some(_)) => Err("Host: must be sent once"),
        (None, _) => request.uri().host().ok_or("Host: is missing"),
    }
}

fn panicked(protocol: Protocol) -> Response {
    tracing::error!("a handler panicked");
    protocol.refusal(ApiError::new(ErrorCode::InternalError, "an unexpected error occurred"))
}
