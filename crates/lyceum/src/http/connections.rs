//! Connection slots: a total limit, a limit per client address, and a few extra slots for health probes.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ClientAddr;
use crate::config::Config;

/// Slots beyond the limit, so that health probes work when all others are taken.
const RESERVED_FOR_PROBES: usize = 16;

/// The open connections.
pub(super) struct Connections {
    slots: Arc<Semaphore>,
    reserved: Arc<Semaphore>,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    per_address: usize,
    is_exempt: Box<dyn Fn(IpAddr) -> bool + Send + Sync>,
}

/// The slot of an open connection, released on drop.
pub(super) struct Slot {
    pub(super) serves: ConnectionUse,
    _permit: OwnedSemaphorePermit,
    _share: Option<AddressSlot>,
}

/// Which requests are served on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionUse {
    /// All.
    All,
    /// Health probes only, because all other slots are taken.
    Probes,
}

/// A slot in the limit of an address.
struct AddressSlot {
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    network: IpAddr,
}

impl Connections {
    pub(super) fn new(config: &Config) -> Self {
        let proxies = config.trusted_proxies.clone();
        Self {
            slots: Arc::new(Semaphore::new(config.limits.connections)),
            reserved: Arc::new(Semaphore::new(RESERVED_FOR_PROBES)),
            by_address: Arc::default(),
            per_address: config.limits.connections_per_address,
            // A proxy on this machine carries the connections of many clients.
            is_exempt: Box::new(move |peer| peer.to_canonical().is_loopback() || proxies.contains(peer)),
        }
    }

    /// Waits for a free slot of either kind. Further clients wait in the listen backlog of the system.
    pub(super) async fn free(&self) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            slot = self.slots.clone().acquire_owned() => slot.ok(),
            slot = self.reserved.clone().acquire_owned() => slot.ok(),
        }
    }

    /// Assigns the slot to a connection; `None` if its address has too many connections.
    pub(super) fn take(&self, peer: IpAddr, permit: OwnedSemaphorePermit) -> Option<Slot> {
        let share = if (self.is_exempt)(peer) { None } else { Some(self.share(peer)?) };
        let is_reserved = Arc::ptr_eq(permit.semaphore(), &self.reserved);
        // A regular slot may have become free while this one waited.
        let regular = if is_reserved { self.slots.clone().try_acquire_owned().ok() } else { None };
        let serves =
            if is_reserved && regular.is_none() { ConnectionUse::Probes } else { ConnectionUse::All };
        Some(Slot { serves, _permit: regular.unwrap_or(permit), _share: share })
    }

    fn share(&self, peer: IpAddr) -> Option<AddressSlot> {
        let network = ClientAddr::of_peer(peer).network();
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = by_address.entry(network).or_default();
        if *count >= self.per_address {
            return None;
        }
        *count += 1;
        Some(AddressSlot { by_address: self.by_address.clone(), network })
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_address.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn connections(lines: &str) -> Connections {
        Connections::new(&Config::from_text(Path::new("lyceum.toml"), lines).unwrap())
    }

    async fn connect(connections: &Connections, peer: &str) -> Option<Slot> {
        let permit = connections.free().await.unwrap();
        connections.take(peer.parse().unwrap(), permit)
    }

    #[tokio::test]
    async fn s4_one_address_has_its_share_and_others_theirs() {
        let connections = connections(
            "[server]\ntrusted_proxies = [\"10.0.0.0/8\"]\n[limits]\nconnections_per_address = 2",
        );
        for peer in ["192.0.2.1", "2001:db8::1"] {
            let held = (connect(&connections, peer).await, connect(&connections, peer).await);
            assert!(held.0.is_some() && held.1.is_some());
            assert!(connect(&connections, peer).await.is_none());
            assert!(connect(&connections, "192.0.2.2").await.is_some());
            drop(held);
            assert!(connect(&connections, peer).await.is_some());
        }
        for exempt in ["127.0.0.1", "::1", "10.1.2.3", "::ffff:127.0.0.1"] {
            let held = [connect(&connections, exempt).await, connect(&connections, exempt).await];
            assert!(held.iter().all(Option::is_some) && connect(&connections, exempt).await.is_some());
        }
        assert!(connections.by_address.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn s4_when_all_places_are_taken_probes_have_some_left() {
        let connections = connections("[limits]\nconnections = 1");
        let first = connect(&connections, "192.0.2.1").await.unwrap();
        let second = connect(&connections, "192.0.2.2").await.unwrap();
        assert_eq!((first.serves, second.serves), (ConnectionUse::All, ConnectionUse::Probes));
        let reserved = connections.free().await.unwrap();
        drop(first);
        let third = connections.take("192.0.2.3".parse().unwrap(), reserved).unwrap();
        assert_eq!(third.serves, ConnectionUse::All);
    }
}
