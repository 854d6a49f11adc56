//! What every outgoing connection shares: one HTTP client, bodies read within a limit, and secrets.

mod body;
mod client;
mod failure;
mod host;
mod secret;

pub use body::{BodyError, read_body, read_start};
pub use client::{ClientError, ClientOptions, Redirects, client};
pub use failure::{category, causes};
pub use host::{is_loopback_host, is_loopback_url};
pub use secret::{InvalidSecret, Secret};
