//! HTTP: the listener, the edge that every request passes, and the plain endpoints.

mod api;
mod auth;
mod body;
mod edge;
mod error;
mod health;
mod host;
mod log;
mod origin;
mod root;
mod router;
mod serve;
mod tools;
mod webhook;

pub use api::openapi;
pub use edge::handle;
pub use host::HostRule;
pub use origin::Origin;
pub use router::router;
pub use serve::serve;

pub(crate) use api::Openapi;
pub(crate) use auth::{Pace, challenge_denied};
pub(crate) use body::read_body;
pub(crate) use error::ApiError;
pub(crate) use log::RequestIds;
pub(crate) use tools::failed_call;

#[cfg(test)]
mod tests;
