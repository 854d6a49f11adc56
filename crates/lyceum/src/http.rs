//! HTTP: the listener, the middleware of every request, and the endpoints.

mod api;
mod auth;
mod body;
mod client_addr;
mod connections;
mod cors;
mod edge;
mod error;
mod generation;
mod health;
mod host;
mod log;
mod operator;
mod origin;
mod rate_limit;
mod root;
mod route;
mod routes;
mod serve;
mod table;
mod throttle;
mod tools;
mod webhook;

pub use api::openapi;
pub use client_addr::{Cidr, TrustedProxies};
use edge::handle;
pub use generation::{Current, Generation};
pub use host::HostRule;
pub use origin::Origin;
pub use route::{Audience, BodyLimit, Cors, Policy, Protocol, RateClass, Route};
pub use routes::routes;
pub use serve::serve;
pub use table::{RouteError, RouteTable};

pub(crate) use api::routes as api_routes;
pub(crate) use auth::{Admission, challenge_denied, routes as sign_in_routes};
pub(crate) use body::{RequestBody, read_body};
pub(crate) use client_addr::ClientAddr;
pub(crate) use error::ApiError;
pub(crate) use log::RequestIds;
pub(crate) use operator::serve_operators;
pub(crate) use rate_limit::RateLimit;
pub(crate) use throttle::Throttle;
pub(crate) use tools::failed_call;

#[cfg(test)]
mod tests;
