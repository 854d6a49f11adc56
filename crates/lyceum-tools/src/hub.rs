//! The hub: the registry of this moment, and news of its changes to whoever listens.

use std::sync::Arc;

use lyceum_content::Current;
use tokio::sync::{broadcast, watch};

use crate::Registry;

/// How many changes a slow listener may be behind before it is told that everything may have changed.
const WAITING_CHANGES: usize = 256;

/// Something that clients may have kept is no longer so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources or of their templates.
    Resources,
    /// What is under one address.
    Resource(String),
}

/// The registry of this moment, and news of its changes.
#[derive(Debug)]
pub struct Hub {
    registry: Current<Registry>,
    changes: broadcast::Sender<Change>,
    closing: watch::Sender<bool>,
}

impl Hub {
    /// Starts with a first registry.
    pub fn new(registry: Registry) -> Self {
        let changes = broadcast::Sender::new(WAITING_CHANGES);
        Self { registry: Current::new(registry), changes, closing: watch::Sender::new(false) }
    }

    /// The registry of this moment.
    pub fn registry(&self) -> Arc<Registry> {
        self.registry.get()
    }

    /// Swaps the next registry in and tells listeners which lists differ.
    pub fn publish(&self, next: Registry) {
        let before = self.registry.swap(next);
        for change in self.registry.get().changes_from(&before) {
            self.announce(change);
        }
    }

    /// Tells listeners of a change.
    pub fn announce(&self, change: Change) {
        // An error only says that nobody listens.
        let _listeners = self.changes.send(change);
    }

    /// Ends every subscription in good order, for the server is about to stop.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Turns true when the server is about to stop.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Listens from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
