//! The HTTP client that files are got with.

use std::time::Duration;

use lyceum_net::{ClientOptions, Redirects};
use reqwest::{Client, Url};

use super::PullError;

/// How far a hub may send us on: to its own store of files and from there to one nearby.
const MAX_REDIRECTS: usize = 6;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// Until there is a connection.
    pub(super) connect: Duration,
    /// Without a byte.
    pub(super) stall: Duration,
    /// Before the second attempt; then twice as long.
    pub(super) pause: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            pause: Duration::from_secs(1),
        }
    }
}

/// A client for this hub. Blocks on the disk.
pub(super) fn client(hub: &Url, patience: Timeouts) -> Result<Client, PullError> {
    let options = ClientOptions {
        redirects: Redirects::Follow(MAX_REDIRECTS),
        connect_timeout: Some(patience.connect),
        read_timeout: Some(patience.stall),
        ..ClientOptions::default()
    };
    lyceum_net::client(hub, options).map_err(|error| PullError::Unreachable(error.to_string()))
}
