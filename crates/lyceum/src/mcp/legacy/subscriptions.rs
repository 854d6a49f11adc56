//! What one older session subscribed to, within its own bounds and the budget that all share.

use std::collections::BTreeSet;

use lyceum_tools::{ByteReservation, Error};

/// How many addresses one session may subscribe to, and how many bytes they may be together.
const MAX_ADDRESSES: usize = 1_000;
const MAX_ADDRESS_BYTES: usize = 64 * 1024;

/// The addresses of one session.
#[derive(Debug)]
pub(super) struct Subscriptions {
    addresses: BTreeSet<String>,
    bytes: usize,
    held: ByteReservation,
}

impl Subscriptions {
    pub(super) fn new(held: ByteReservation) -> Self {
        Self { addresses: BTreeSet::new(), bytes: 0, held }
    }

    /// Adds an address that there is.
    pub(super) fn add(&mut self, uri: String) -> Result<(), Error> {
        if self.addresses.contains(&uri) {
            return Ok(());
        }
        let bytes = self.bytes + uri.len();
        if self.addresses.len() >= MAX_ADDRESSES || bytes > MAX_ADDRESS_BYTES {
            let message = format!(
                "uri: a session can subscribe to {MAX_ADDRESSES} resources at most, with addresses of {MAX_ADDRESS_BYTES} bytes together; unsubscribe from some first"
            );
            return Err(Error::invalid("uri", message));
        }
        self.held.grow(uri.len())?;
        self.bytes = bytes;
        self.addresses.insert(uri);
        Ok(())
    }

    pub(super) fn remove(&mut self, uri: &str) {
        if self.addresses.remove(uri) {
            self.bytes -= uri.len();
            self.held.shrink(uri.len());
        }
    }

    pub(super) fn contains(&self, uri: &str) -> bool {
        self.addresses.contains(uri)
    }

    /// All of them, at this moment.
    pub(super) fn all(&self) -> Vec<String> {
        self.addresses.iter().cloned().collect()
    }
}
