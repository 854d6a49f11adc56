//! The resource subscriptions of one session, within its limits and the shared byte budget.

use std::collections::BTreeSet;

use lyceum_tools::{ByteReservation, Error};

/// Maximum number of subscriptions of one session, and of the bytes of their URIs together.
const MAX_URIS: usize = 1_000;
const MAX_URI_BYTES: usize = 64 * 1024;

/// The subscribed URIs of one session.
#[derive(Debug)]
pub(super) struct Subscriptions {
    uris: BTreeSet<String>,
    bytes: usize,
    reservation: ByteReservation,
}

impl Subscriptions {
    pub(super) fn new(reservation: ByteReservation) -> Self {
        Self { uris: BTreeSet::new(), bytes: 0, reservation }
    }

    /// Subscribes to an existing resource.
    pub(super) fn add(&mut self, uri: String) -> Result<(), Error> {
        if self.uris.contains(&uri) {
            return Ok(());
        }
        let bytes = self.bytes + uri.len();
        if self.uris.len() >= MAX_URIS || bytes > MAX_URI_BYTES {
            let message = format!(
                "uri: a session can subscribe to {MAX_URIS} resources at most, with URIs of {MAX_URI_BYTES} bytes together; unsubscribe from some first"
            );
            return Err(Error::invalid("uri", message));
        }
        self.reservation.grow(uri.len())?;
        self.bytes = bytes;
        self.uris.insert(uri);
        Ok(())
    }

    pub(super) fn remove(&mut self, uri: &str) {
        if self.uris.remove(uri) {
            self.bytes -= uri.len();
            self.reservation.shrink(uri.len());
        }
    }

    pub(super) fn contains(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    /// All subscribed URIs.
    pub(super) fn all(&self) -> Vec<String> {
        self.uris.iter().cloned().collect()
    }
}
