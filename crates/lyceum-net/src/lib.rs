//! What all outgoing connections share: the HTTP client, size-limited response bodies, secrets, retries, and the
//! SSRF guard.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests start what they test, and wait for it"))]

mod backoff;
mod body;
mod breaker;
mod client;
mod failure;
mod guard;
mod host;
mod retry_after;
mod secret;
mod single_flight;

pub use backoff::{Backoff, with_jitter};
pub use body::{BodyError, read_body, read_start};
pub use breaker::{CircuitBreaker, Transition};
pub use client::{ClientError, ClientOptions, Redirects, client, tls_config};
pub use failure::{category, causes};
pub use guard::{Fetch, FetchError, Guard};
pub use host::{is_loopback_host, is_loopback_url};
pub use retry_after::retry_after;
pub use secret::{InvalidSecret, Secret};
pub use single_flight::SingleFlight;
