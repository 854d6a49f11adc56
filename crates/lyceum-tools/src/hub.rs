//! The hub: holds the current registry and broadcasts changes.

use std::sync::{Arc, Mutex, PoisonError};

use lyceum_content::Current;
use lyceum_model::Domain;
use tokio::sync::{broadcast, watch};

use crate::{AuditSink, Registry, RegistryError};

/// How many changes a slow subscriber may lag behind before it must assume that everything changed.
const CHANGE_QUEUE_CAPACITY: usize = 256;

/// A change that invalidates something that clients may have cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources or of their templates.
    Resources,
    /// The content of the resource with that URI.
    Resource(String),
}

/// The current registry, and a broadcast of its changes.
#[derive(Debug)]
pub struct Hub {
    /// The registry of each service, if it is joined from several.
    offers: Mutex<Vec<(Domain, Arc<Registry>)>>,
    audit: Option<AuditSink>,
    registry: Current<Registry>,
    changes: broadcast::Sender<Change>,
    closing: watch::Sender<bool>,
}

impl Hub {
    /// Starts with an initial registry.
    pub fn new(registry: Registry) -> Self {
        Self {
            offers: Mutex::default(),
            audit: registry.audit.clone(),
            registry: Current::new(registry),
            changes: broadcast::Sender::new(CHANGE_QUEUE_CAPACITY),
            closing: watch::Sender::new(false),
        }
    }

    /// Joins the registries of all services. Refusals and calls that write are recorded by `audit`.
    pub fn join(
        offers: impl IntoIterator<Item = (Domain, Registry)>,
        audit: Option<AuditSink>,
    ) -> Result<Self, RegistryError> {
        let offers: Vec<_> = offers.into_iter().map(|(service, offer)| (service, Arc::new(offer))).collect();
        let registry = Registry::join(offers.iter().map(|(_, offer)| offer))?.audited_by(audit);
        Ok(Self { offers: Mutex::new(offers), ..Self::new(registry) })
    }

    /// Replaces the registry of one service and announces the lists that changed. If it conflicts with another
    /// service, nothing changes.
    pub fn offer(&self, service: &Domain, offer: Registry) -> Result<(), RegistryError> {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = offers.clone();
        let offer = Arc::new(offer);
        match next.iter_mut().find(|(name, _)| name == service) {
            Some((_, old)) => *old = offer,
            None => next.push((service.clone(), offer)),
        }
        let registry = Registry::join(next.iter().map(|(_, offer)| offer))?.audited_by(self.audit.clone());
        *offers = next;
        // Still under the lock: the registry that was joined last must also be published last.
        self.publish(registry);
        Ok(())
    }

    /// The current registry.
    pub fn registry(&self) -> Arc<Registry> {
        self.registry.get()
    }

    /// Replaces the registry and announces the lists that changed.
    pub fn publish(&self, next: Registry) {
        let before = self.registry.swap(next);
        for change in self.registry.get().changes_from(&before) {
            self.announce(change);
        }
    }

    /// Broadcasts a change.
    pub fn announce(&self, change: Change) {
        // `send` only fails if there are no subscribers.
        let _listeners = self.changes.send(change);
    }

    /// Ends all subscriptions gracefully, because the server is shutting down.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Becomes `true` when the server shuts down.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Subscribes to changes from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
