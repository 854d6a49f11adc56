//! The hub: the registry of this moment, and news of its changes to whoever listens.

use std::sync::{Arc, Mutex, PoisonError};

use lyceum_content::Current;
use lyceum_model::Domain;
use tokio::sync::{broadcast, watch};

use crate::{AuditSink, Registry, RegistryError};

/// How many changes a slow listener may be behind before it is told that everything may have changed.
const CHANGE_QUEUE_CAPACITY: usize = 256;

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
    /// What each service offers, where it is made of services.
    offers: Mutex<Vec<(Domain, Arc<Registry>)>>,
    audit: Option<AuditSink>,
    registry: Current<Registry>,
    changes: broadcast::Sender<Change>,
    closing: watch::Sender<bool>,
}

impl Hub {
    /// Starts with a first registry.
    pub fn new(registry: Registry) -> Self {
        Self {
            offers: Mutex::default(),
            audit: registry.audit.clone(),
            registry: Current::new(registry),
            changes: broadcast::Sender::new(CHANGE_QUEUE_CAPACITY),
            closing: watch::Sender::new(false),
        }
    }

    /// Starts with what each service offers; refusals and calls that write are recorded by `audit`.
    pub fn join(
        offers: impl IntoIterator<Item = (Domain, Registry)>,
        audit: Option<AuditSink>,
    ) -> Result<Self, RegistryError> {
        let offers: Vec<_> = offers.into_iter().map(|(service, offer)| (service, Arc::new(offer))).collect();
        let registry = Registry::join(offers.iter().map(|(_, offer)| offer))?.audited_by(audit);
        Ok(Self { offers: Mutex::new(offers), ..Self::new(registry) })
    }

    /// Swaps what one service offers, and tells listeners which lists differ. Where it can't stand beside what the others offer,
    /// everything stays as it was.
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
        // Still under the lock: what is published last was made last.
        self.publish(registry);
        Ok(())
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
