//! What every outgoing connection shares: one HTTP client, and bodies read within a limit.

mod body;
mod client;
mod failure;
mod host;

pub use body::{BodyError, read_body, read_start};
pub use client::{ClientError, ClientOptions, Redirects, client};
pub use failure::{category, causes};
pub use host::{is_loopback_host, is_loopback_url};
