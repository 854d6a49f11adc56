//! The HTTP client for downloads.

use std::time::Duration;

use lyceum_net::{ClientOptions, Redirects};
use reqwest::{Client, Url};

use super::PullError;

/// Maximum number of redirects: hubs redirect to their file store, and that to a nearby mirror.
const MAX_REDIRECTS: usize = 6;

/// Timeouts of a download.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// Connect timeout.
    pub(super) connect: Duration,
    /// Maximum time without receiving data.
    pub(super) stall: Duration,
    /// Back-off before the second attempt; doubles after that.
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

/// Creates a client for a hub. Blocks.
pub(super) fn client(hub: &Url, timeouts: Timeouts) -> Result<Client, PullError> {
    let options = ClientOptions {
        redirects: Redirects::Follow(MAX_REDIRECTS),
        connect_timeout: Some(timeouts.connect),
        read_timeout: Some(timeouts.stall),
        ..ClientOptions::default()
    };
    lyceum_net::client(hub, options).map_err(|error| PullError::Unreachable(error.to_string()))
}
