//! Concurrency limits for work that strangers can cause, such as outgoing requests: in total, and per key.
//!
//! Nothing is queued: without a free permit, the caller is rejected, so a slow host blocks only its own share.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

/// What a permit is counted against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LimitKey {
    /// The requested host.
    Host(String),
    /// The client address.
    Address(IpAddr),
}

/// Permits in use.
#[derive(Debug, Default)]
pub(crate) struct ConcurrencyLimits {
    active: Mutex<Vec<Vec<LimitKey>>>,
}

/// A permit; released on drop.
#[derive(Debug)]
pub(crate) struct Permit<'t> {
    limits: &'t ConcurrencyLimits,
    keys: Vec<LimitKey>,
}

impl ConcurrencyLimits {
    /// Acquires a permit if fewer than `max` are in use, and for each key fewer than its own limit.
    pub(crate) fn try_acquire(
        &self,
        max: usize,
        key_limits: impl IntoIterator<Item = (LimitKey, usize)>,
    ) -> Option<Permit<'_>> {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys = Vec::new();
        for (key, limit) in key_limits {
            if active.iter().filter(|permit| permit.contains(&key)).count() >= limit {
                return None;
            }
            keys.push(key);
        }
        if active.len() >= max {
            return None;
        }
        active.push(keys.clone());
        Some(Permit { limits: self, keys })
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut active = self.limits.active.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(position) = active.iter().position(|permit| *permit == self.keys) {
            active.swap_remove(position);
        }
    }
}
